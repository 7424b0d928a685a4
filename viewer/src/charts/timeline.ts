/** Time series on one clock: panels with one cursor between them and the phases shaded. */
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { h } from "../dom.ts";
import { sample, tick, type Unit } from "../format.ts";
import type { Series } from "../generated/analysis.ts";
import { colour, faded } from "./theme.ts";

export interface PanelLine {
  label: string;
  /** A custom property of the style sheet, such as `--slot-0`. */
  colour: string;
  dash?: boolean;
  /** Starts switched off; its legend switches it on. */
  off?: boolean;
  values: readonly (number | null)[];
}

export interface Panel {
  title: string;
  unit: Unit;
  lines: readonly PanelLine[];
  /** The axis holds at least 0 to this. */
  top?: number;
}

const HEIGHT = 168;
/** Steps of an axis of bytes: 1, 2, 4 … so that its labels are whole KiB, MiB and GiB. */
const BINARY = Array.from({ length: 50 }, (_, power) => 2 ** power);
const PHASE_NAMES: Record<string, string> = {
  warmup: "warm-up",
  measure: "measure",
  drain: "drain",
  connect: "connect",
};

/** Draws the panels into `host` and returns what frees them. */
export function drawPanels(host: HTMLElement, series: Series, panels: readonly Panel[]): () => void {
  const plots: uPlot[] = [];
  const sync = uPlot.sync(`trial-${series.trial}`);
  host.replaceChildren();
  for (const panel of panels) {
    const stage = h("div", { class: "plot" });
    const name = `${panel.title}: ${panel.lines.map((line) => line.label).join(", ")}`;
    host.append(h("figure", { class: "panel", "aria-label": name }, h("figcaption", {}, panel.title), stage));
    const plot = new uPlot(options(panel, series, stage.clientWidth, sync.key), data(panel, series), stage);
    sync.sub(plot);
    plots.push(plot);
    nameLegend(plot, panel);
  }
  const watch = new ResizeObserver(() => {
    for (const plot of plots) {
      const width = plot.root.parentElement?.clientWidth ?? 0;
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: HEIGHT });
    }
  });
  watch.observe(host);
  return () => {
    watch.disconnect();
    for (const plot of plots) plot.destroy();
  };
}

function data(panel: Panel, series: Series): uPlot.AlignedData {
  return [series.t_s, ...panel.lines.map((line) => [...line.values])];
}

function options(panel: Panel, series: Series, width: number, key: string): uPlot.Options {
  const ink = colour("--muted");
  const grid = { stroke: colour("--line"), width: 1 };
  const axis = { stroke: ink, grid, ticks: { ...grid, size: 4 }, font: "12px system-ui, sans-serif" };
  return {
    width,
    height: HEIGHT,
    padding: [16, 12, 0, 0],
    cursor: { y: false, sync: { key }, drag: { x: true, y: false }, focus: { prox: -1 } },
    scales: {
      x: { time: false, range: (_plot, low, high) => range(series, low, high) },
      y: { range: (_plot, _low, high) => [0, ceiling(high, panel.top)] },
    },
    legend: { live: true },
    hooks: {
      drawClear: [
        (plot) => {
          shade(plot, series, ink);
        },
      ],
    },
    axes: [
      { ...axis, size: 28, values: (_plot, ticks) => ticks.map((t) => `${t} s`) },
      {
        ...axis,
        size: 70,
        space: 34,
        values: (_plot, ticks) => ticks.map((value) => tick(value, panel.unit)),
        ...(panel.unit.startsWith("bytes") ? { incrs: BINARY } : {}),
      },
    ],
    series: [
      { label: "t", value: (_plot, t: number | null) => (t === null ? "" : `${t.toFixed(0)} s`) },
      ...panel.lines.map((line): uPlot.Series => ({
        label: line.label,
        show: line.off !== true,
        stroke: colour(line.colour),
        width: 1.5,
        ...(line.dash === true ? { dash: [5, 3] } : {}),
        points: { show: false },
        value: (_plot, value: number | null) => (value === null ? "" : sample(value, panel.unit)),
      })),
    ],
  };
}

/** A zoom as it is; all samples as the whole trial, whose first phase begins a second before the first of them. */
function range(series: Series, low: number | null, high: number | null): uPlot.Range.MinMax {
  const [first = 0, last = 0] = [series.t_s[0], series.t_s.at(-1)];
  if (low !== null && high !== null && (low > first || high < last)) return [low, high];
  const starts = series.phases.map(([, start]) => start);
  const ends = series.phases.map(([, , end]) => end);
  return [Math.min(first, ...starts), Math.max(last, ...ends)];
}

function ceiling(high: number | null, least = 0): number {
  const top = Math.max(high ?? 0, least);
  return top === 0 ? 1 : top * 1.08;
}

/** Everything but the measured phase is shaded: only what is on clean ground counts. */
function shade(plot: uPlot, series: Series, ink: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "bottom";
  for (const [phase, start, end] of series.phases) {
    const edge = bbox.left + bbox.width;
    const from = Math.max(plot.valToPos(start, "x", true), bbox.left);
    const to = Math.min(plot.valToPos(end, "x", true), edge);
    if (to <= from) continue;
    if (phase !== "measure") {
      ctx.fillStyle = faded(ink, 0.12);
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
    }
    const name = PHASE_NAMES[phase] ?? phase;
    const left = from + 4 * devicePixelRatio;
    if (ctx.measureText(name).width < to - left) {
      ctx.fillStyle = ink;
      ctx.fillText(name, left, bbox.top - 2 * devicePixelRatio);
    }
  }
  ctx.restore();
}

/** uPlot's legend switches lines by mouse; this makes its entries buttons for the keyboard too. */
function nameLegend(plot: uPlot, panel: Panel): void {
  const entries = [...plot.root.querySelectorAll<HTMLElement>(".u-legend .u-series")].slice(1);
  entries.forEach((entry, index) => {
    const label = entry.querySelector<HTMLElement>("th");
    if (label === null) return;
    label.tabIndex = 0;
    label.setAttribute("role", "button");
    label.setAttribute("aria-label", `${panel.lines[index]?.label ?? ""}: show or hide`);
    label.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      label.click();
    });
  });
}
