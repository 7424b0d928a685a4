import { describe, expect, test } from "vitest";
import {
  bytes,
  figure,
  interval,
  latency,
  moment,
  number,
  ratio,
  sample,
  tick,
  trials,
} from "../src/format.ts";
import type { Estimate } from "../src/generated/analysis.ts";

const plain = (text: string) => text.replaceAll("\u202f", " ");
const estimate = (change: Partial<Estimate>): Estimate => ({
  value: 1,
  low: 0.9,
  high: 1.1,
  n: 3,
  confidence: 0.95,
  method: "t",
  ...change,
});

describe("numbers", () => {
  test("thousands are separated and fractions dropped where they do not count", () => {
    expect(number(1234567.2)).toBe("1,234,567");
    expect(number(0)).toBe("0");
    expect(number(3)).toBe("3");
  });
  test("a measured figure keeps three digits, also zeros", () => {
    expect(figure(5)).toBe("5.00");
    expect(figure(0.01234)).toBe("0.0123");
    expect(figure(99.97)).toBe("100");
    expect(figure(4337.4)).toBe("4,337");
  });
  test("a ratio has two decimals, as in the sentences", () => {
    expect(ratio(0.934)).toBe("0.93×");
    expect(ratio(1)).toBe("1.00×");
  });
});

describe("units", () => {
  test("latency picks the unit that leaves one to three digits before the point", () => {
    expect(plain(latency(850))).toBe("850 µs");
    expect(plain(latency(999.7))).toBe("1.00 ms");
    expect(plain(latency(12_345))).toBe("12.3 ms");
    expect(plain(latency(1_200_000))).toBe("1.20 s");
  });
  test("bytes are in powers of 1024", () => {
    expect(plain(bytes(268_435_456))).toBe("256 MiB");
    expect(plain(bytes(0))).toBe("0 B");
    expect(plain(bytes(1536))).toBe("1.5 KiB");
  });
  test("each unit of a sample has its own form", () => {
    expect(sample(1234.5, "1/s")).toBe("1,235/s");
    expect(sample(1.972, "cores")).toBe("1.97 cores");
    expect(plain(sample(0.5, "share"))).toBe("50 %");
    expect(plain(sample(1_048_576, "bytes/s"))).toBe("1 MiB/s");
  });
  test("axis labels stay short", () => {
    expect(tick(4_000_000, "1/s")).toBe("4M");
    expect(tick(2000, "1/s")).toBe("2,000");
    expect(plain(tick(5000, "us"))).toBe("5 ms");
  });
});

describe("words", () => {
  test("one trial has no interval and says so", () => {
    expect(interval(estimate({ low: null, high: null, n: 1 }), figure)).toBe("no interval: one trial");
    expect(interval(estimate({}), figure)).toBe("[0.900, 1.10]");
  });
  test("a single trial is not plural", () => {
    expect(trials(1)).toBe("1 trial");
    expect(trials(27)).toBe("27 trials");
  });
  test("a moment is in UTC; what is no date stays as it is", () => {
    expect(moment("2026-11-20T19:30:59+01:00")).toBe("2026-11-20 18:30 UTC");
    expect(moment("yesterday")).toBe("yesterday");
  });
});
