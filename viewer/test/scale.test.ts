import { describe, expect, test } from "vitest";
import { levelAxis, reach, valueAxis } from "../src/scale.ts";

describe("level axis", () => {
  test("log₂ gives each doubling the same width", () => {
    const { at } = levelAxis([1, 2, 4, 8], "log2", 0, 600);
    expect(at(2) - at(1)).toBeCloseTo(at(8) - at(4));
    expect(at(1)).toBeGreaterThan(0);
    expect(at(8)).toBeLessThan(600);
  });
  test("linear gives each session the same width", () => {
    const { at } = levelAxis([1, 2, 4, 8], "linear", 0, 600);
    expect(at(8) - at(4)).toBeCloseTo(2 * (at(4) - at(2)));
  });
  test("labels that would touch are left out, the ends stay", () => {
    const { at, ticks } = levelAxis([1, 2, 4, 8, 16, 32, 64, 512], "linear", 0, 300);
    expect(ticks[0]).toBe(1);
    expect(ticks.at(-1)).toBe(512);
    ticks.slice(1).forEach((tick, index) => {
      expect(at(tick) - at(ticks[index] ?? 0)).toBeGreaterThanOrEqual(34);
    });
  });
  test("one level stands in the middle", () => {
    expect(levelAxis([16], "log2", 0, 100).at(16)).toBeCloseTo(50);
    expect(levelAxis([16], "linear", 0, 100).at(16)).toBeCloseTo(50);
  });
});

describe("value axis", () => {
  test("a linear axis starts at zero", () => {
    const { at, ticks } = valueAxis([9000, 9100], "linear", 300, 0);
    expect(at(0)).toBe(300);
    expect(ticks[0]).toBe(0);
    expect(at(9100)).toBeGreaterThan(0);
  });
  test("a log axis labels inside its range and survives zero", () => {
    const { at, ticks } = valueAxis([0, 120, 90_000], "log", 300, 0);
    expect(ticks.length).toBeGreaterThan(1);
    ticks.forEach((tick) => {
      expect(at(tick)).toBeGreaterThanOrEqual(0);
      expect(at(tick)).toBeLessThanOrEqual(300);
    });
    expect(Number.isFinite(at(0))).toBe(true);
  });
  test("nothing to draw still gives an axis", () => {
    expect(valueAxis([], "linear", 300, 0).ticks.length).toBeGreaterThan(0);
    expect(valueAxis([], "log", 300, 0).ticks.length).toBeGreaterThan(0);
  });
  test("a wide interval does not flatten the values", () => {
    expect(Math.max(...reach([100, 90], [4000]))).toBeCloseTo(130);
    expect(Math.max(...reach([100, 90], [104]))).toBe(104);
  });
});
