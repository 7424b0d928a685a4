/** Axis arithmetic: positions, ticks, and the range that keeps a chart honest. */
import { scaleLinear, scaleLog } from "d3-scale";

export interface Axis {
  at: (value: number) => number;
  ticks: number[];
}

/** Load levels along x: log₂ spaces doublings evenly, linear shows where scaling bends. */
export function levelAxis(
  levels: readonly number[],
  kind: "log2" | "linear",
  from: number,
  to: number,
): Axis {
  const low = Math.min(...levels);
  const high = Math.max(...levels);
  if (kind === "log2" && low > 0) {
    const scale = scaleLog()
      .base(2)
      .domain(padded(low, high, "log2"))
      .range([from, to]);
    return { at: (v) => scale(v), ticks: spaced(levels, (v) => scale(v)) };
  }
  const scale = scaleLinear()
    .domain(padded(low, high, "linear"))
    .range([from, to]);
  return { at: (v) => scale(v), ticks: spaced(levels, (v) => scale(v)) };
}

function padded(low: number, high: number, kind: "log2" | "linear"): [number, number] {
  if (kind === "log2") {
    const factor = low === high ? 2 : (high / low) ** 0.04;
    return [low / factor, high * factor];
  }
  const room = low === high ? 1 : (high - low) * 0.04;
  return [low - room, high + room];
}

/** Those levels whose labels have room, the ends first. */
function spaced(levels: readonly number[], at: (value: number) => number, room = 34): number[] {
  const kept: number[] = [];
  const ends = [levels.at(-1), levels[0], ...levels.slice(1, -1)];
  for (const level of ends) {
    if (level !== undefined && kept.every((k) => Math.abs(at(k) - at(level)) >= room)) kept.push(level);
  }
  return kept.sort((a, b) => a - b);
}

/** Values along y. A linear axis starts at 0: a cut axis makes small differences look large. */
export function valueAxis(values: readonly number[], kind: "linear" | "log", from: number, to: number): Axis {
  const positive = values.filter((v) => v > 0);
  const high = Math.max(...values, 0);
  if (kind === "log" && positive.length > 0) {
    const scale = scaleLog()
      .domain([Math.min(...positive) / 1.3, high * 1.3])
      .range([from, to]);
    return {
      at: (v) => scale(Math.max(v, Number.MIN_VALUE)),
      ticks: logTicks(scale.domain() as [number, number]),
    };
  }
  const scale = scaleLinear()
    .domain([0, high === 0 ? 1 : high * 1.04])
    .nice(5)
    .range([from, to]);
  return { at: (v) => scale(v), ticks: scale.ticks(5) };
}

/** Powers of ten, and 2 and 5 between them where there are few. */
function logTicks([low, high]: [number, number]): number[] {
  const decades = Math.log10(high / low);
  const steps = decades > 3 ? [1] : decades > 1.5 ? [1, 3] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const step of steps) {
      const tick = step * 10 ** power;
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks;
}

/** How high the axis must reach: every value and dot, and intervals as far as they do not flatten the rest. */
export function reach(values: readonly number[], highs: readonly number[]): number[] {
  const top = Math.max(...values, 0);
  return [...values, ...highs.map((high) => Math.min(high, top * 1.3))];
}
