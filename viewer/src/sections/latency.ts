/** Latency percentiles against load levels: one percentile as a chart, all of them as a table. */
import { levelChart, type LevelLine } from "../charts/levels.ts";
import { picker, segmented } from "../controls.ts";
import { h, type Child } from "../dom.ts";
import { latency as show, number } from "../format.ts";
import type { Engine, Latency, Load } from "../generated/analysis.ts";
import { cellLink, section, table, type Page } from "../page.ts";
import { STATEMENT } from "../run.ts";
import type { Percentile, View } from "../view.ts";
import { caution, gapNotes, goodTrials, loadTitle, whyNot } from "./throughput.ts";

const NAMES: Record<Percentile, string> = {
  p50: "p50",
  p95: "p95",
  p99: "p99",
  p999: "p99.9",
  p9999: "p99.99",
  max: "max",
};
const FIELDS: Record<Percentile, keyof Latency & `${string}_us`> = {
  p50: "p50_us",
  p95: "p95_us",
  p99: "p99_us",
  p999: "p999_us",
  p9999: "p9999_us",
  max: "max_us",
};
/** The share of transactions beyond each percentile. */
const BEYOND: Record<Percentile, number> = {
  p50: 0.5,
  p95: 0.05,
  p99: 0.01,
  p999: 0.001,
  p9999: 0.0001,
  max: 0,
};
const BEYOND_MIN = 10;
const THIN = `fewer than ${BEYOND_MIN} transactions lie beyond this percentile`;
const LEVELS = Object.keys(NAMES) as Percentile[];

export function latency(page: Page): HTMLElement {
  const { run, store } = page;
  const chart = levelChart();
  const gaps = h("div", { class: "gaps" });
  const data = h("div", {});
  const meaning = h("p", { class: "note" });
  store.watch(
    ["workload", "settings", "kind", "transaction", "time", "hidden", "scale", "percentile", "latencyScale"],
    (view) => {
      const loads = run.levels(view.kind);
      const lines = run.shown(view).map((engine) => line(page, view, engine, loads));
      chart.draw(describe(view, loads, lines));
      meaning.textContent = MEANINGS[measured(view)];
      gaps.replaceChildren(...gapNotes(lines, loads));
      data.replaceChildren(rows(page, view));
    },
  );
  const times = segmented(store, "time", "Time", TIMES);
  store.watch(["kind", "transaction"], (view) => {
    times.hidden = view.kind === "closed" || view.transaction.startsWith(STATEMENT);
  });
  return section(
    "latency",
    "Latency",
    h(
      "div",
      { class: "controls" },
      segmented(
        store,
        "percentile",
        "Percentile",
        LEVELS.map((value) => ({ value, label: NAMES[value] })),
      ),
      segmented(store, "latencyScale", "Latency axis", AXES),
      picker(store, "transaction", "Of", () => choices(page)),
      times,
    ),
    chart.element,
    meaning,
    h(
      "p",
      { class: "note" },
      "Percentiles of all good trials' histograms, merged; for p99 every small dot is one trial.",
    ),
    gaps,
    data,
  );
}

/** Every transaction type, then every statement. */
function choices({ run }: Page): { value: string; label: string }[] {
  return [
    ...run.transactions.map((name) => ({ value: name, label: name })),
    ...run.statements.map((name) => ({ value: `${STATEMENT}${name}`, label: `statement ${name}` })),
  ];
}

const TIMES = [
  { value: "response", label: "response" },
  { value: "service", label: "service" },
  { value: "lag", label: "lag" },
];

type Measured = "service" | "response" | "open-service" | "lag" | "statement";

/** What a latency means depends on the loop. */
const MEANINGS: Record<Measured, string> = {
  service:
    "Closed loop: service time, from the start of a transaction to its end. A server that stalls also stalls the arrivals, so this is not what users wait.",
  response:
    "Open loop: response time, from when a transaction was due to its end, whether a session was free or not.",
  "open-service":
    "Open loop: service time, from the start of a transaction to its end: a part of the response time.",
  lag: "Open loop: lag, from when a transaction was due to its start: the wait for a free session, and for the rig.",
  statement: "Of single statements, from the first byte sent to the last byte received.",
};

function measured(view: View): Measured {
  if (view.transaction.startsWith(STATEMENT)) return "statement";
  if (view.kind === "closed") return "service";
  return view.time === "service" ? "open-service" : view.time;
}

/** The name of a latency on an axis. */
const TITLES: Record<Measured, string> = {
  service: "service time",
  response: "response time",
  "open-service": "service time",
  lag: "lag",
  statement: "statement latency",
};

const AXES = [
  { value: "linear", label: "linear" },
  { value: "log", label: "log" },
];

/** Whether so few transactions lie beyond the percentile that a single one could move it far. */
function thin(found: Latency, percentile: Percentile): boolean {
  return percentile !== "max" && found.count * BEYOND[percentile] < BEYOND_MIN;
}

/** One unit for the whole axis, chosen by its largest value. */
function axisUnit(lines: readonly LevelLine[]): { name: string; us: number } {
  const top = Math.max(0, ...lines.flatMap((line) => line.points.map((p) => p?.value ?? 0)));
  if (top >= 2_000_000) return { name: "s", us: 1_000_000 };
  return top >= 2000 ? { name: "ms", us: 1000 } : { name: "µs", us: 1 };
}

function describe(
  view: View,
  loads: readonly Load[],
  lines: LevelLine[],
): Parameters<ReturnType<typeof levelChart>["draw"]>[0] {
  const unit = axisUnit(lines);
  const title = `${NAMES[view.percentile]} ${TITLES[measured(view)]}`;
  return {
    title,
    xTitle: loadTitle(view),
    yTitle: `${title}, ${unit.name}`,
    levels: loads,
    lines,
    scale: view.scale,
    valueScale: view.latencyScale,
    format: show,
    tick: (value) => number(value / unit.us),
  };
}

function line({ run }: Page, view: View, engine: Engine, loads: readonly Load[]): LevelLine {
  const gaps: { x: number; text: string }[] = [];
  const points = loads.map(({ id, x }) => {
    const cell = run.cell(view, engine.id, id);
    const found = run.latency(cell, view);
    if (cell === undefined || found === undefined) {
      if (cell !== undefined) gaps.push({ x, text: whyNot(cell) });
      return null;
    }
    // The trials' own p99 is that of all transactions together, the first of a cell's latencies.
    const whole = view.percentile === "p99" && found === cell.latency[0];
    const dots = whole ? goodTrials(cell, (t) => t.p99_us) : [];
    const detail = `of ${number(found.count)} ${measured(view) === "statement" ? "statements" : "transactions"}`;
    return {
      x,
      value: found[FIELDS[view.percentile]],
      low: null,
      high: null,
      dots,
      detail,
      caution: [thin(found, view.percentile) ? THIN : null, caution(cell)].filter(Boolean).join("; ") || null,
    };
  });
  return { id: engine.id, label: engine.label, slot: run.slot(engine.id), points, gaps };
}

function percentile(found: Latency, name: Percentile): Child {
  const text = show(found[FIELDS[name]]);
  return thin(found, name) ? h("span", { class: "thin", title: THIN }, `(${text})`) : text;
}

function rows(page: Page, view: View): HTMLElement {
  const { run } = page;
  const found = run.loads(view.kind).flatMap(({ id }) =>
    run.shown(view).flatMap((engine) => {
      const cell = run.cell(view, engine.id, id);
      if (cell === undefined) return [];
      const l = run.latency(cell, view);
      if (l === undefined) return [[cellLink(page, cell), cell.status, ...LEVELS.map(() => "–"), "0"]];
      return [
        [cellLink(page, cell), ...LEVELS.map((p) => percentile(l, p)), show(l.mean_us), number(l.count)],
      ];
    }),
  );
  const columns = ["Cell", ...LEVELS.map((p) => NAMES[p]), "mean", "count"];
  const whole = table("Latency percentiles", columns, found, { class: "figures" });
  const note = whole.querySelector(".thin") !== null && h("p", { class: "note" }, `In brackets: ${THIN}.`);
  return h("div", {}, whole, note);
}
