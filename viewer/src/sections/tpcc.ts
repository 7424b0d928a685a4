/** A TPC-C-derived load: new orders a minute against load, each type against its limits, and the load's validity. */
import { levelChart, type LevelChart, type LevelLine } from "../charts/levels.ts";
import { h } from "../dom.ts";
import { figure, interval, latency, number, percent, trials } from "../format.ts";
import type {
  Cell,
  Engine,
  Estimate,
  Load,
  TpccFigures,
  TpccShare,
  TpccType,
} from "../generated/analysis.ts";
import { cellLink, section, table, type Page } from "../page.ts";
import type { View } from "../view.ts";
import { caution, gapNotes, loadTitle, whyNot } from "./throughput.ts";

/** Whether any cell of the run has such a load. */
export function hasTpcc({ run }: Page): boolean {
  return run.analysis.cells.some((cell) => cell.tpcc !== null);
}

export function tpcc(page: Page): HTMLElement {
  const { run, store } = page;
  const chart = levelChart();
  const load = h("p", { class: "note" });
  const gaps = h("div", { class: "gaps" });
  const types = h("div", {});
  const shares = h("div", {});
  const content = h(
    "div",
    {},
    load,
    chart.element,
    h("p", { class: "note" }, CHART_NOTE),
    gaps,
    h("h3", {}, "Transactions a minute, and whether the load was a valid one"),
    shares,
    h(
      "details",
      {},
      h("summary", {}, "Share and latency of each transaction type, against the limits"),
      types,
    ),
  );
  const other = h("p", { class: "note" }, "The workload shown is of another kind.");
  store.watch(["workload", "settings", "kind", "hidden", "scale"], (view) => {
    const cells = shown(page, view);
    const first = cells[0]?.tpcc ?? null;
    content.hidden = first === null;
    other.hidden = first !== null;
    if (first === null) return;
    load.textContent = `Profile ${first.profile}, shape ${first.shape}. TPC-C-derived: no result of that benchmark.`;
    const levels = run.levels(view.kind);
    const lines = run.shown(view).map((engine) => line(page, view, engine, levels));
    chart.draw(describe(view, levels, lines));
    gaps.replaceChildren(...gapNotes(lines, levels));
    types.replaceChildren(typeTable(page, cells));
    shares.replaceChildren(shareTable(page, cells));
  });
  return section("tpcc", "New orders a minute (NOPM)", other, content);
}

const CHART_NOTE =
  "Orders entered a minute of measured time, by the client's count, without those rolled back. Whiskers are 95 % intervals of the mean over trials; every small dot is one trial.";

/** The cells of the view that have such figures, level by level. */
function shown({ run }: Page, view: View): (Cell & { tpcc: TpccFigures })[] {
  return run.loads(view.kind).flatMap(({ id }) =>
    run.shown(view).flatMap((engine) => {
      const cell = run.cell(view, engine.id, id);
      return cell !== undefined && cell.tpcc !== null ? [{ ...cell, tpcc: cell.tpcc }] : [];
    }),
  );
}

function describe(view: View, levels: readonly Load[], lines: LevelLine[]): LevelChart {
  return {
    title: "New orders a minute",
    xTitle: loadTitle(view),
    yTitle: "new orders a minute (NOPM)",
    levels,
    lines,
    scale: view.scale,
    valueScale: "linear",
    format: (value) => `${figure(value)} NOPM`,
    tick: number,
  };
}

function line({ run }: Page, view: View, engine: Engine, levels: readonly Load[]): LevelLine {
  const gaps: { x: number; text: string }[] = [];
  const points = levels.map(({ id, x }) => {
    const cell = run.cell(view, engine.id, id);
    if (cell === undefined) return null;
    if (cell.tpcc === null) {
      gaps.push({ x, text: whyNot(cell) });
      return null;
    }
    const { nopm, tpm, nopm_trials: dots } = cell.tpcc;
    const detail = `${interval(nopm, figure)}, ${trials(nopm.n)}, ${figure(tpm.value)} TPM`;
    return { x, value: nopm.value, low: nopm.low, high: nopm.high, dots, detail, caution: caution(cell) };
  });
  return { id: engine.id, label: engine.label, slot: run.slot(engine.id), points, gaps };
}

const TYPE_COLUMNS = [
  "Cell",
  "Transaction",
  "A minute",
  "Share",
  "p50",
  "p90",
  "p99",
  "max",
  "Specification",
];

function typeTable(page: Page, cells: readonly (Cell & { tpcc: TpccFigures })[]): HTMLElement {
  const rows = cells.flatMap((cell) =>
    cell.tpcc.types.map((type) => [
      cellLink(page, cell),
      type.name,
      figure(type.per_minute),
      percent(type.share),
      ...[type.p50_us, type.p90_us, type.p99_us, type.max_us].map((us) => (us === null ? "" : latency(us))),
      limits(type),
    ]),
  );
  return table("Transactions by type", TYPE_COLUMNS, rows, { class: "cells" });
}

/** What the specification asks of a type, and whether it was so. */
function limits(type: TpccType): string {
  const least = type.share_min;
  const tooFew = type.missed.includes("share");
  const tooLong = type.missed.includes("p90");
  const asked = [
    ...(least === null ? [] : [`share ≥ ${percent(least)}${tooFew ? ": missed" : ""}`]),
    `p90 < ${latency(type.p90_limit_us)}${tooLong ? ": missed" : ""}`,
  ];
  return asked.join(", ");
}

function shareTable(page: Page, cells: readonly (Cell & { tpcc: TpccFigures })[]): HTMLElement {
  const names = cells[0]?.tpcc.shares ?? [];
  const columns = [
    "Cell",
    "TPM, client",
    "TPM, server",
    ...names.map((share) => `${share.name}, ${range(share)}`),
  ];
  const rows = cells.map((cell) => [
    cellLink(page, cell),
    rate(cell.tpcc.tpm),
    cell.tpcc.server_tpm === null ? "" : rate(cell.tpcc.server_tpm),
    ...cell.tpcc.shares.map(verdict),
  ]);
  return table("Transactions a minute, and the shares of the load", columns, rows, { class: "cells" });
}

function rate(estimate: Estimate): string {
  return estimate.low === null
    ? figure(estimate.value)
    : `${figure(estimate.value)} ${interval(estimate, figure)}`;
}

/** Means above 1 are lines of an order; all others are shares. */
function words(share: TpccShare, value: number): string {
  return share.high > 1 ? value.toFixed(2) : `${(100 * value).toFixed(2)} %`;
}

function range(share: TpccShare): string {
  return `${words(share, share.low)} to ${words(share, share.high)}`;
}

function verdict(share: TpccShare): string {
  if (share.value === null) return share.verdict;
  const value = words(share, share.value);
  return share.verdict === "within" ? value : `${value} (${share.verdict})`;
}
