/** A figure against load levels: a line an engine, its interval as a whisker, every trial as a dot, gaps as gaps. */
import { h, svg, type Child } from "../dom.ts";
import { drawLaw, type Law } from "./law.ts";
import { levelAxis, reach, valueAxis, type Axis } from "../scale.ts";
import { SLOTS } from "../run.ts";

export interface LevelPoint {
  x: number;
  value: number;
  low: number | null;
  high: number | null;
  /** The trials' own values. */
  dots: readonly number[];
  /** What the tooltip says beside the value: the interval and n. */
  detail: string;
  /** Why to read the point with care, drawn as a hollow marker. */
  caution: string | null;
}

export interface LevelLine {
  id: string;
  label: string;
  slot: number;
  /** A level without a figure is null, and `gaps` says why. */
  points: readonly (LevelPoint | null)[];
  gaps: readonly { x: number; text: string }[];
  /** The law that the line follows, where it does. */
  law?: Law | null;
}

export interface LevelChart {
  title: string;
  xTitle: string;
  yTitle: string;
  levels: readonly { x: number; label: string }[];
  lines: readonly LevelLine[];
  scale: "log2" | "linear";
  valueScale: "linear" | "log";
  format: (value: number) => string;
  /** Axis numbers, in the one unit that `yTitle` names. */
  tick: (value: number) => string;
}

interface Frame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: Axis;
  y: Axis;
  /** From one engine to the next within a level. */
  dodge: number;
}

const HEIGHT = 360;
const NO_LEVEL =
  "Every load here changes with time, so it has no place on an axis: see “One trial over time”.";
/** Engines at one level stand side by side, so that no whisker hides another. */
const DODGE_MAX = 15;

/** The chart as an element that redraws itself to the width it is given. */
export function levelChart(): { element: HTMLElement; draw: (chart: LevelChart) => void } {
  const tip = h("div", { class: "tip", hidden: true, role: "status" });
  const stage = h("div", { class: "stage", tabindex: 0, role: "group" });
  const element = h("div", { class: "levels" }, stage, tip);
  let chart: LevelChart | null = null;
  let frame: Frame | null = null;
  let active = -1;

  const redraw = () => {
    if (chart === null || stage.clientWidth === 0) return;
    if (chart.levels.length === 0) {
      stage.replaceChildren(h("p", { class: "note" }, NO_LEVEL));
      return;
    }
    frame = measure(chart, stage.clientWidth);
    stage.setAttribute("aria-label", `${chart.title}. Arrow keys move from level to level.`);
    stage.replaceChildren(picture(chart, frame));
    point(-1);
  };
  const point = (index: number) => {
    active = index;
    const level = chart?.levels[index];
    tip.hidden = level === undefined;
    const guide = stage.querySelector<SVGLineElement>(".guide");
    if (chart === null || frame === null || guide === null) return;
    guide.classList.toggle("on", level !== undefined);
    if (level === undefined) return;
    const x = frame.x.at(level.x);
    guide.setAttribute("x1", String(x));
    guide.setAttribute("x2", String(x));
    tip.replaceChildren(...tipRows(chart, level));
    const room = element.clientWidth - tip.offsetWidth;
    const beside = x + 16 > room ? x - 16 - tip.offsetWidth : x + 16;
    tip.style.left = `${Math.max(0, Math.min(beside, room))}px`;
  };

  stage.addEventListener("pointermove", (event) => {
    if (chart === null || frame === null) return;
    const at = event.clientX - stage.getBoundingClientRect().left;
    const index = nearest(chart.levels, frame.x, at);
    if (index !== active) point(index);
  });
  stage.addEventListener("pointerleave", () => {
    point(-1);
  });
  stage.addEventListener("blur", () => {
    point(-1);
  });
  stage.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") point(-1);
    if (step === undefined || chart === null) return;
    event.preventDefault();
    const from = active < 0 && step < 0 ? chart.levels.length : active;
    point(Math.max(0, Math.min(from + step, chart.levels.length - 1)));
  });
  new ResizeObserver(redraw).observe(stage);
  return {
    element,
    draw: (next) => {
      chart = next;
      redraw();
    },
  };
}

function nearest(levels: LevelChart["levels"], axis: Axis, at: number): number {
  let best = -1;
  let least = Infinity;
  levels.forEach(({ x }, index) => {
    const distance = Math.abs(axis.at(x) - at);
    if (distance < least) [best, least] = [index, distance];
  });
  return best;
}

function measure(chart: LevelChart, width: number): Frame {
  const points = chart.lines.flatMap((line) => line.points.filter((p) => p !== null));
  const values = points.flatMap((p) => [p.value, ...p.dots]);
  const highs = points.map((p) => p.high ?? p.value);
  const [left, right, top, bottom] = [width < 480 ? 50 : 62, width - 14, 30, HEIGHT - 46];
  const x = levelAxis(
    chart.levels.map((level) => level.x),
    chart.scale,
    left + 14,
    right - 14,
  );
  const y = valueAxis(reach(values, highs), chart.valueScale, bottom, top);
  return { width, height: HEIGHT, left, right, top, bottom, x, y, dodge: dodge(chart, x) };
}

/** As wide as lets the engines of one level keep clear of those of the next. */
function dodge(chart: LevelChart, axis: Axis): number {
  const places = chart.levels.map((level) => axis.at(level.x)).sort((a, b) => a - b);
  const steps = places.slice(1).map((place, index) => place - (places[index] ?? place));
  return Math.min(DODGE_MAX, (0.3 * Math.min(...steps, Infinity)) / Math.max(chart.lines.length, 1));
}

function picture(chart: LevelChart, frame: Frame): SVGSVGElement {
  const { width, height } = frame;
  const clip = `clip-${chart.title.replace(/\W+/g, "-")}`;
  const box = {
    x: frame.left,
    y: frame.top - 4,
    width: frame.right - frame.left,
    height: frame.bottom - frame.top + 4,
  };
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": summary(chart) },
    svg("clipPath", { id: clip }, svg("rect", box)),
    axes(chart, frame),
    svg("line", { class: "guide", y1: frame.top, y2: frame.bottom }),
    svg(
      "g",
      { "clip-path": `url(#${clip})` },
      chart.lines.map((line, index) =>
        drawLine(line, frame, (index - (chart.lines.length - 1) / 2) * frame.dodge),
      ),
    ),
    chart.lines.map((line, index) =>
      drawGaps(line, frame, (index - (chart.lines.length - 1) / 2) * frame.dodge),
    ),
  );
}

function axes(chart: LevelChart, frame: Frame): SVGGElement {
  const { left, right, top, bottom } = frame;
  const empty = chart.lines.every((line) => line.points.every((point) => point === null));
  const middle = (left + right) / 2;
  return svg(
    "g",
    { class: "axes", "aria-hidden": "true" },
    (empty ? [] : frame.y.ticks).map((tick) => {
      const y = frame.y.at(tick);
      return [
        svg("line", { class: "grid", x1: left, x2: right, y1: y, y2: y }),
        svg("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, chart.tick(tick)),
      ];
    }),
    frame.x.ticks.map((tick) => {
      const x = frame.x.at(tick);
      return [
        svg("line", { class: "mark", x1: x, x2: x, y1: bottom, y2: bottom + 5 }),
        svg("text", { x, y: bottom + 19, "text-anchor": "middle" }, tick.toLocaleString("en-US")),
      ];
    }),
    svg("line", { class: "base", x1: left, x2: right, y1: bottom, y2: bottom }),
    svg("text", { class: "title", x: middle, y: bottom + 40, "text-anchor": "middle" }, chart.xTitle),
    svg("text", { class: "title", x: 2, y: top - 14 }, chart.yTitle),
    empty && svg("text", { x: middle, y: (top + bottom) / 2, "text-anchor": "middle" }, "no figure to draw"),
  );
}

function drawLine(line: LevelLine, frame: Frame, shift: number): SVGGElement {
  const at = (p: LevelPoint) => [frame.x.at(p.x) + shift, frame.y.at(p.value)] as const;
  let pen = "M";
  let path = "";
  for (const p of line.points) {
    if (p === null) {
      pen = "M";
      continue;
    }
    const [x, y] = at(p);
    path += `${pen}${x.toFixed(1)},${y.toFixed(1)}`;
    pen = "L";
  }
  return svg(
    "g",
    { class: `engine ${slotClass(line.slot)}`, "data-engine": line.id },
    line.law && drawLaw(line.law, { x: frame.x.at, y: frame.y.at, bottom: frame.bottom }),
    path !== "" && svg("path", { class: "line", d: path }),
    line.points.map((p) => p !== null && drawPoint(p, line.slot, frame, at(p))),
  );
}

function drawPoint(p: LevelPoint, slot: number, frame: Frame, [x, y]: readonly [number, number]): Child {
  const whisker = p.low !== null && p.high !== null && bar(x, p.low, p.high, frame);
  const dots = p.dots.map((dot) =>
    svg("circle", { class: "trial", cx: x + frame.dodge * 0.45, cy: frame.y.at(dot), r: 2.3 }),
  );
  const hollow = p.caution === null ? "" : " hollow";
  return [dots, whisker, svg("path", { class: `marker${hollow}`, d: marker(slot, x, y, 3.8) })];
}

/** An interval; an end beyond the axis has an arrow where another has a cap. */
function bar(x: number, low: number, high: number, frame: Frame): SVGPathElement {
  const [cap, across] = [4, 8];
  const beyond = frame.y.at(high) < frame.top;
  const top = beyond ? frame.top : frame.y.at(high);
  const bottom = low < 0 ? frame.bottom : Math.min(frame.y.at(low), frame.bottom);
  const upper = beyond
    ? `M${x - cap},${top + cap}l${cap},${-cap}l${cap},${cap}`
    : `M${x - cap},${top}h${across}`;
  const lower =
    low < 0 ? `M${x - cap},${bottom - cap}l${cap},${cap}l${cap},${-cap}` : `M${x - cap},${bottom}h${across}`;
  return svg("path", { class: "whisker", d: `${upper}M${x},${top}V${bottom}${lower}` });
}

/** A cross on the axis for each level where the line has nothing to show. */
function drawGaps(line: LevelLine, frame: Frame, shift: number): SVGGElement {
  return svg(
    "g",
    { class: slotClass(line.slot) },
    line.gaps.map(({ x, text }) => {
      const [cx, cy] = [frame.x.at(x) + shift, frame.bottom - 9];
      const cross = svg("path", { class: "gap", d: `M${cx - 4},${cy - 4}l8,8M${cx - 4},${cy + 4}l8,-8` });
      cross.append(svg("title", {}, `${line.label}: ${text}`));
      return cross;
    }),
  );
}

/** Shape as well as colour tells engines apart. */
export function marker(slot: number, x: number, y: number, r: number): string {
  switch (slot % 4) {
    case 0:
      return `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`;
    case 1:
      return `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`;
    case 2:
      return `M${x},${y - r * 1.3}L${x + r * 1.2},${y + r}H${x - r * 1.2}Z`;
    default:
      return `M${x},${y - r * 1.35}L${x + r * 1.35},${y}L${x},${y + r * 1.35}L${x - r * 1.35},${y}Z`;
  }
}

/** The class that gives an engine its colour; later engines than there are colours are dashed. */
export function slotClass(slot: number): string {
  return `slot-${slot % SLOTS}${slot >= SLOTS ? " again" : ""}`;
}

function tipRows(chart: LevelChart, level: LevelChart["levels"][number]): HTMLElement[] {
  const rows = chart.lines.map((line) => {
    const point = line.points.find((p) => p?.x === level.x);
    const gap = line.gaps.find((g) => g.x === level.x);
    return h(
      "div",
      { class: "tip-row" },
      swatch(line.slot),
      h("span", { class: "tip-name" }, line.label),
      h("b", {}, point ? chart.format(point.value) : "no figure"),
      h("small", {}, point ? point.detail : (gap?.text ?? "not in the plan")),
      point?.caution && h("small", { class: "caution" }, point.caution),
    );
  });
  return [h("div", { class: "tip-head" }, level.label), ...rows];
}

export function swatch(slot: number): SVGSVGElement {
  return svg(
    "svg",
    { class: `swatch ${slotClass(slot)}`, width: 26, height: 14, "aria-hidden": "true" },
    svg("path", { class: "line", d: "M1,7H25" }),
    svg("path", { class: "marker", d: marker(slot, 13, 7, 4.6) }),
  );
}

function summary(chart: LevelChart): string {
  const lines = chart.lines.map((line) => {
    const figures = line.points.filter((p) => p !== null).map((p) => `${chart.format(p.value)} at ${p.x}`);
    return `${line.label}: ${figures.join(", ") || "no figure"}`;
  });
  return [chart.title, ...lines].join(". ");
}
