/** A fitted law on a chart against load: its curve, the interval of the curve as a band, and its peak. */
import { svg } from "../dom.ts";

export interface Law {
  points: readonly { x: number; value: number; low: number; high: number }[];
  /** The law's highest point, where the levels show one. */
  peak: { x: number; value: number; text: string } | null;
}

interface Place {
  x: (value: number) => number;
  y: (value: number) => number;
  bottom: number;
}

/** Drawn below the measured points, which come first. */
export function drawLaw(law: Law, place: Place): SVGGElement {
  const at = (x: number, y: number) => `${place.x(x).toFixed(1)},${place.y(y).toFixed(1)}`;
  const upper = law.points.map((p) => at(p.x, p.high));
  const lower = law.points.map((p) => at(p.x, p.low)).reverse();
  const middle = law.points.map((p) => at(p.x, p.value));
  return svg(
    "g",
    { class: "law" },
    svg("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z` }),
    svg("path", { class: "curve", d: `M${middle.join("L")}` }),
    law.peak && drawPeak(law.peak, place),
  );
}

function drawPeak(peak: NonNullable<Law["peak"]>, { x, y, bottom }: Place): SVGGElement {
  const at = x(peak.x);
  const drop = svg("line", { class: "peak", x1: at, x2: at, y1: y(peak.value), y2: bottom });
  const name = svg("text", { x: at + 4, y: bottom - 6 }, "N*");
  return svg("g", {}, svg("title", {}, peak.text), drop, name);
}
