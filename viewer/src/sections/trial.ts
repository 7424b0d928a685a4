/** One trial over time: what the rig, the server and the host did, second by second. */
import { drawPanels, type Panel, type PanelLine } from "../charts/timeline.ts";
import { onTheme } from "../charts/theme.ts";
import { picker } from "../controls.ts";
import { h } from "../dom.ts";
import { figure, latency, number, percent } from "../format.ts";
import type { Metric, OpenLoop, Series, TrialResult } from "../generated/analysis.ts";
import { facts, section, type Page } from "../page.ts";
import { SLOTS } from "../run.ts";
import type { View } from "../view.ts";

export function trial(page: Page): HTMLElement {
  const { run, store } = page;
  const about = h("div", {});
  const panels = h("div", { class: "panels" });
  let free: (() => void) | null = null;

  const draw = (view: View) => {
    free?.();
    free = null;
    const found = run.trial(view);
    const series = found?.trial.series == null ? undefined : run.analysis.series[found.trial.series];
    about.replaceChildren(...describe(found?.trial));
    panels.replaceChildren();
    if (series !== undefined) free = drawPanels(panels, series, choose(series, view, run.slot(view.engine)));
  };
  const keys: (keyof View)[] = ["workload", "settings", "engine", "load", "block", "counter"];
  const element = section(
    "trial",
    "One trial over time",
    h("div", { class: "controls" }, pickers(page)),
    about,
    panels,
  );
  // The panels measure their place on the page, so they are drawn once it is there.
  requestAnimationFrame(() => {
    store.watch(keys, draw);
    onTheme(() => {
      draw(store.view);
    });
  });
  return element;
}

function pickers({ run, store }: Page): HTMLElement[] {
  const engines = () => run.engines.map(({ id, label }) => ({ value: id, label }));
  const loads = (view: View) =>
    run.analysis.loads
      .filter(({ id }) => run.cell(view, view.engine, id) !== undefined)
      .map(({ id, label }) => ({ value: id, label }));
  const blocks = (view: View) =>
    (run.cell(view, view.engine, view.load)?.trials ?? []).map(({ block, status }) => ({
      value: String(block),
      label: status === "ok" ? `trial ${block}` : `trial ${block} (${status})`,
    }));
  const counters = (view: View) => {
    const found = run.trial(view)?.trial.series;
    const series = found == null ? undefined : run.analysis.series[found];
    return status(series).map(({ metric }) => ({ value: metric, label: counterName(metric) }));
  };
  return [
    picker(store, "engine", "Engine", engines),
    picker(store, "load", "Load", loads, ["engine", "workload", "settings"]),
    picker(store, "block", "Trial", blocks, ["engine", "load", "workload", "settings"]),
    picker(store, "counter", "Server counter", counters, ["engine", "load", "block", "workload", "settings"]),
  ];
}

function describe(found: TrialResult | undefined): HTMLElement[] {
  if (found === undefined) return [h("p", { class: "note" }, "This cell was not in the plan.")];
  const lost = found.status === "ok" ? [] : spoilt(found);
  if (found.throughput_per_s === null) return lost;
  const pairs: [string, string][] = [["Throughput", `${figure(found.throughput_per_s)}/s`]];
  if (found.open !== null) pairs.push(...openFacts(found.open));
  const p99 = found.open === null ? "p99 service time" : "p99 response time";
  if (found.p99_us !== null) pairs.push([p99, latency(found.p99_us)]);
  if (found.server_cpu_cores !== null)
    pairs.push(["Server CPU", `${found.server_cpu_cores.toFixed(2)} cores`]);
  if (found.client_cpu_share !== null) pairs.push(["Rig's CPUs busy", percent(found.client_cpu_share)]);
  pairs.push(["Retries", number(found.retries)]);
  const marks = found.marks.map((mark) => h("p", { class: `mark ${mark.severity}` }, mark.text));
  const empty =
    found.series === null ? [h("p", { class: "note" }, "No time series were kept of this trial.")] : [];
  const help = h(
    "p",
    { class: "note" },
    "Drag to zoom all panels, double-click to see all; a name below switches its line.",
  );
  return [...lost, facts(pairs, "brief"), ...marks, ...(empty.length > 0 ? empty : [help])];
}

/** Why a trial is no result, and what to do about it. */
function spoilt(found: TrialResult): HTMLElement[] {
  const reason = `This trial is ${found.status}: ${found.reason ?? "no reason was recorded"}`;
  const tail = found.log_tail;
  return [
    h("p", { class: "failed" }, reason, found.hint !== null && h("small", {}, ` hint: ${found.hint}`)),
    ...(tail === null ? [] : [h("pre", { tabindex: 0, "aria-label": "the server's last log lines" }, tail)]),
  ];
}

function openFacts(open: OpenLoop): [string, string][] {
  const facts: [string, string][] = [
    ["Offered", `${figure(open.offered_per_s)}/s`],
    ["Dropped", number(open.dropped)],
    ["Waiting when measure ended", number(open.backlog)],
  ];
  if (open.generator_lag_p99_us !== null)
    facts.push(["Rig's own lag p99", latency(open.generator_lag_p99_us)]);
  return facts;
}

function status(series: Series | undefined): Metric[] {
  return (series?.metrics ?? []).filter(({ metric }) => metric.startsWith("status/"));
}

function counterName(metric: string): string {
  return metric.replace("status/", "");
}

/** How a metric is named in its panel, and what it stands under. */
const PANELS: readonly {
  title: string;
  metrics: Record<string, string>;
  off?: readonly string[];
  top?: number;
}[] = [
  { title: "Throughput, transactions/s", metrics: { throughput_per_s: "done", offered_per_s: "offered" } },
  { title: "Sessions at work", metrics: { sessions: "sessions" } },
  {
    title: "Latency",
    metrics: { latency_p50_us: "p50", latency_p95_us: "p95", latency_p99_us: "p99", latency_max_us: "max" },
    off: ["latency_p95_us", "latency_max_us"],
  },
  {
    title: "Where response times come from, p99",
    metrics: { service_p99_us: "service", lag_p99_us: "lag", generator_lag_p99_us: "the rig's own lag" },
  },
  { title: "Due transactions waiting for a session", metrics: { backlog: "waiting" } },
  { title: "Dropped a second, for the backlog was full", metrics: { dropped_per_s: "dropped" } },
  { title: "Rig: ready to run but without a CPU", metrics: { run_delay: "worst worker" }, top: 0.1 },
  { title: "CPU used, cores", metrics: { server_cpu: "server", client_cpu: "rig" }, top: 1 },
  { title: "Host CPU, busy share of each", metrics: { cpu_busy: "CPU" }, top: 1 },
  { title: "Disk", metrics: { disk_written_bytes_per_s: "written", disk_read_bytes_per_s: "read" } },
  {
    title: "Memory",
    metrics: { server_rss_bytes: "server, resident", memory_available_bytes: "host, available" },
  },
  { title: "Network", metrics: { net_rx_bytes_per_s: "received", net_tx_bytes_per_s: "sent" } },
  { title: "Errors a second", metrics: { errors_per_s: "errors" } },
  { title: "Context switches of the host, a second", metrics: { context_switches_per_s: "switches" } },
];

/** A number of sessions that never changes is in the load's name already. */
function still(found: readonly Metric[]): boolean {
  return found.every(({ metric, values }) => metric === "sessions" && new Set(values).size === 1);
}

/** Metrics that are only worth a panel where they are not zero throughout. */
const QUIET = ["errors_per_s", "dropped_per_s", "backlog"];

function choose(series: Series, view: View, slot: number): Panel[] {
  const panels = PANELS.flatMap(({ title, metrics, off, top }): Panel[] => {
    const found = Object.keys(metrics).flatMap((name) =>
      series.metrics.filter(({ metric, values }) => metric === name && values.some((v) => v !== null)),
    );
    const first = found[0];
    if (
      first === undefined ||
      still(found) ||
      (Object.keys(metrics).some((name) => QUIET.includes(name)) &&
        found.every(({ values }) => values.every((v) => !v)))
    )
      return [];
    // A log may have printed the 95th percentile alone: a panel of nothing but hidden lines would be empty.
    const hidden = found.every(({ metric }) => off?.includes(metric)) ? [] : off;
    const lines = found.map((metric, index) =>
      panelLine(
        metric,
        [metrics[metric.metric], metric.label].filter(Boolean).join(" "),
        index,
        slot,
        hidden,
      ),
    );
    return [{ title, unit: first.unit, lines, ...(top === undefined ? {} : { top }) }];
  });
  const counters = status(series);
  const counter = counters.find(({ metric }) => metric === view.counter) ?? counters[0];
  if (counter === undefined) return panels;
  const name = counterName(counter.metric);
  return [
    ...panels,
    {
      title: `Server counter ${name}, a second`,
      unit: counter.unit,
      lines: [panelLine(counter, name, 0, slot)],
    },
  ];
}

/** The first line of a panel has its engine's colour; the others are told apart from it. */
function panelLine(
  metric: Metric,
  label: string,
  index: number,
  slot: number,
  off: readonly string[] = [],
): PanelLine {
  return {
    label,
    colour: `--slot-${(slot + index) % SLOTS}`,
    dash: index >= SLOTS,
    off: off.includes(metric.metric),
    values: metric.values,
  };
}
