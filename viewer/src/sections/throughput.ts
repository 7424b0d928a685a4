/** Throughput against load levels, and the table behind the chart. */
import { levelChart, type LevelChart, type LevelLine } from "../charts/levels.ts";
import { segmented } from "../controls.ts";
import { h } from "../dom.ts";
import { figure, interval, latency, number, trials } from "../format.ts";
import type { Cell, Engine, Load, TrialResult } from "../generated/analysis.ts";
import { cellLink, section, table, type Page } from "../page.ts";
import type { View } from "../view.ts";
import { law, laws } from "./scaling.ts";

export function throughput(page: Page): HTMLElement {
  const { run, store } = page;
  const chart = levelChart();
  const gaps = h("div", { class: "gaps" });
  const data = h("div", {});
  const meaning = h("p", { class: "note" });
  store.watch(["workload", "settings", "kind", "hidden", "scale"], (view) => {
    const loads = run.levels(view.kind);
    const lines = run.shown(view).map((engine) => line(page, view, engine, loads));
    meaning.textContent = MEANINGS[view.kind];
    chart.draw(describe(view, loads, lines));
    gaps.replaceChildren(...gapNotes(lines, loads), ...laws(page, view));
  });
  store.watch(["workload", "settings", "kind", "hidden"], (view) => {
    data.replaceChildren(rows(page, view));
  });
  return section(
    "throughput",
    `Throughput against ${run.kinds.length > 1 ? "load" : run.kinds[0] === "closed" ? "sessions" : "offered load"}`,
    h("div", { class: "controls" }, segmented(store, "scale", "Load axis", SCALES)),
    chart.element,
    meaning,
    h(
      "p",
      { class: "note" },
      "Whiskers are 95 % intervals of the mean over trials; every small dot is one trial; a hollow point has a reason for care.",
    ),
    gaps,
    h("details", {}, h("summary", {}, "The figures behind this chart"), data),
  );
}

const MEANINGS: Record<View["kind"], string> = {
  closed: "Closed loop: capacity, as many transactions as the sessions get done.",
  open: "Open loop: what was done of what was offered. Where the server keeps up both are the same, and that is no capacity.",
};

const SCALES = [
  { value: "log2", label: "log₂" },
  { value: "linear", label: "linear" },
];

function describe(view: View, loads: readonly Load[], lines: LevelLine[]): LevelChart {
  return {
    title: "Throughput",
    xTitle: loadTitle(view),
    yTitle: "transactions per second",
    levels: loads,
    lines,
    scale: view.scale,
    valueScale: "linear",
    format: (value) => `${figure(value)}/s`,
    tick: number,
  };
}

export function loadTitle(view: View): string {
  return view.kind === "closed" ? "sessions" : "transactions offered per second";
}

function line(page: Page, view: View, engine: Engine, loads: readonly Load[]): LevelLine {
  const { run } = page;
  const gaps: { x: number; text: string }[] = [];
  const points = loads.map(({ id, x }) => {
    const cell = run.cell(view, engine.id, id);
    const estimate = cell?.throughput_per_s;
    if (cell === undefined || estimate === undefined || estimate === null) {
      if (cell !== undefined) gaps.push({ x, text: whyNot(cell) });
      return null;
    }
    return {
      x,
      value: estimate.value,
      low: estimate.low,
      high: estimate.high,
      dots: goodTrials(cell, (t) => t.throughput_per_s),
      detail: `${interval(estimate, figure)}, ${trials(estimate.n)}`,
      caution: caution(cell),
    };
  });
  const { id, label } = engine;
  return { id, label, slot: run.slot(id), points, gaps, law: law(page, view, id) };
}

/** A figure of each good trial: an invalid one may have a number too, which counts nowhere. */
export function goodTrials(cell: Cell, figureOf: (trial: TrialResult) => number | null): number[] {
  return cell.trials
    .filter((t) => t.status === "ok")
    .map(figureOf)
    .filter((v) => v !== null);
}

/** Why a cell has no figure, in the words of its marks or of its first trial that is not good. */
export function whyNot(cell: Cell): string {
  const reasons = [...cell.marks.map((m) => m.text), ...cell.trials.map((t) => t.reason)];
  return reasons.find((reason) => reason !== null && reason !== "") ?? "no figure";
}

export function caution(cell: Cell): string | null {
  const marks = cell.marks.filter((mark) => mark.severity !== "info").map((mark) => mark.text);
  return marks.length === 0 ? null : marks.join("; ");
}

/** One line a gap, so that what is not in the chart is said beside it. */
export function gapNotes(lines: readonly LevelLine[], loads: readonly Load[]): HTMLElement[] {
  return lines.flatMap(({ label, gaps }) =>
    gaps.map(({ x, text }) =>
      h(
        "p",
        { class: "gap-note" },
        h("b", {}, `× ${label}, ${loads.find((l) => l.x === x)?.label ?? x}: `),
        text,
      ),
    ),
  );
}

function rows(page: Page, view: View): HTMLElement {
  const { run } = page;
  const found = run.loads(view.kind).flatMap(({ id }) =>
    run.shown(view).map((engine) => {
      const cell = run.cell(view, engine.id, id);
      return cell === undefined ? null : figures(page, cell);
    }),
  );
  const columns = [
    "Cell",
    "Mean, tx/s",
    "95 % interval",
    "Trials, tx/s",
    ...(view.kind === "open" ? OPEN_COLUMNS : []),
    "Server CPU, µs/tx",
    "Rig CPU, µs/tx",
    "Marks",
  ];
  return table(
    "Throughput",
    columns,
    found.filter((row) => row !== null),
    { class: "cells" },
  );
}

const OPEN_COLUMNS = ["Offered, tx/s", "Dropped", "Waiting at the end", "Rig's own lag p99"];

/** What an open loop shows beside what was done. */
function openFigures(cell: Cell): string[] {
  if (cell.loop === "closed") return [];
  const { open } = cell;
  if (open === null) return OPEN_COLUMNS.map(() => "");
  const lag = open.generator_lag_p99_us;
  return [
    figure(open.offered_per_s),
    number(open.dropped),
    number(open.backlog),
    lag === null ? "" : latency(lag),
  ];
}

function figures(page: Page, cell: Cell): (Node | string)[] {
  const {
    throughput_per_s: rate,
    server_cpu_us_per_transaction: server,
    client_cpu_us_per_transaction: client,
  } = cell;
  const each = cell.trials.map((t) => {
    if (t.throughput_per_s === null) return t.status;
    return t.status === "ok" ? figure(t.throughput_per_s) : `(${figure(t.throughput_per_s)} ${t.status})`;
  });
  return [
    cellLink(page, cell),
    rate === null ? cell.status : figure(rate.value),
    rate === null ? "" : interval(rate, figure),
    each.join(", "),
    ...openFigures(cell),
    server === null ? "" : figure(server.value),
    client === null ? "" : figure(client.value),
    cell.marks.map((mark) => mark.text).join("; "),
  ];
}
