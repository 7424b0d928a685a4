/** Numbers as people read them: thousands separators, three figures that count, the unit that fits. */
import type { Estimate, Metric } from "./generated/analysis.ts";

export type Unit = Metric["unit"];

const THIN = "\u202f";

/** A number with thousands separators and about three significant figures below 100. */
export function number(value: number): string {
  const size = Math.abs(value);
  const options: Intl.NumberFormatOptions =
    size >= 100 || value === 0 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 };
  return new Intl.NumberFormat("en-US", options).format(value);
}

/** A measured number: three significant figures, also when the last ones are zeros. */
export function figure(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || size >= 99.95) return number(value);
  return new Intl.NumberFormat("en-US", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }).format(
    value,
  );
}

/** Microseconds in the unit that leaves a readable number. */
export function latency(us: number): string {
  if (us < 999.5) return `${figure(us)}${THIN}µs`;
  if (us < 999_500) return `${figure(us / 1000)}${THIN}ms`;
  return `${figure(us / 1_000_000)}${THIN}s`;
}

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Bytes in powers of 1024. */
export function bytes(value: number): string {
  let size = value;
  let unit = 0;
  while (Math.abs(size) >= 1024 && unit < BYTE_UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${number(size)}${THIN}${BYTE_UNITS[unit] ?? ""}`;
}

/** A sample of a time series with its unit. */
export function sample(value: number, unit: Unit): string {
  switch (unit) {
    case "1/s":
      return `${number(value)}/s`;
    case "us":
      return latency(value);
    case "cores":
      return `${value.toFixed(2)} cores`;
    case "share":
      return `${(100 * value).toFixed(0)}${THIN}%`;
    case "bytes":
      return bytes(value);
    case "bytes/s":
      return `${bytes(value)}/s`;
    case "count":
      return number(value);
  }
}

/** An axis label: short, without the zeros that a measured figure keeps. */
export function tick(value: number, unit: Unit): string {
  switch (unit) {
    case "1/s":
      return value >= 100_000
        ? new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 }).format(value)
        : number(value);
    case "us":
      if (value < 1000) return `${number(value)}${THIN}µs`;
      return value < 1_000_000 ? `${number(value / 1000)}${THIN}ms` : `${number(value / 1_000_000)}${THIN}s`;
    case "cores":
      return number(value);
    default:
      return sample(value, unit);
  }
}

/** A ratio to two decimals, as the sentences of the findings have it. */
export function ratio(value: number): string {
  return `${value.toFixed(2)}×`;
}

/** `[low, high]`, or why there is no interval. */
export function interval(estimate: Estimate, format: (value: number) => string): string {
  if (estimate.low === null || estimate.high === null) {
    return estimate.n === 1 ? "no interval: one trial" : "no interval";
  }
  return `[${format(estimate.low)}, ${format(estimate.high)}]`;
}

export function trials(n: number): string {
  return n === 1 ? "1 trial" : `${number(n)} trials`;
}

/** `95 %` of 0.95. */
export function percent(share: number): string {
  return `${number(100 * share)}${THIN}%`;
}

/** A time stamp to the minute, in UTC, so that a report says the same wherever it is read. */
export function moment(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
