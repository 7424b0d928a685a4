/** What the reader is looking at, kept in the address so that a link shows the same. */
import type { Analysis } from "./generated/analysis.ts";

export const PERCENTILES = ["p50", "p95", "p99", "p999", "p9999", "max"] as const;
export type Percentile = (typeof PERCENTILES)[number];

export interface View {
  workload: string;
  settings: string;
  kind: "closed" | "open";
  /** A transaction type, or `statement:` with a statement's name. */
  transaction: string;
  /** Which part of an open loop's response time: all of it, from the start, or until the start. */
  time: "response" | "service" | "lag";
  /** Engines the legend has switched off, by id. */
  hidden: readonly string[];
  scale: "log2" | "linear";
  percentile: Percentile;
  latencyScale: "linear" | "log";
  /** The trial whose time series are shown. */
  engine: string;
  load: string;
  block: string;
  counter: string;
  filter: string;
  rows: "differing" | "requested" | "all";
  /** The section to scroll to. */
  at: string;
}

/** Short names keep permalinks short. */
const KEYS: Record<keyof View, string> = {
  workload: "w",
  settings: "s",
  kind: "k",
  transaction: "tx",
  time: "t",
  hidden: "off",
  scale: "x",
  percentile: "p",
  latencyScale: "y",
  engine: "e",
  load: "l",
  block: "b",
  counter: "c",
  filter: "q",
  rows: "rows",
  at: "at",
};

/** The choices of each key that has few; anything else in an address is ignored. */
const CHOICES: Partial<Record<keyof View, readonly string[]>> = {
  kind: ["closed", "open"],
  time: ["response", "service", "lag"],
  scale: ["log2", "linear"],
  percentile: PERCENTILES,
  latencyScale: ["linear", "log"],
  rows: ["differing", "requested", "all"],
};

/** The view a reader meets first: the first workload, and a good trial at the highest load for the time series. */
export function defaults(analysis: Analysis): View {
  const workload = analysis.workloads[0]?.id ?? "";
  const settings = analysis.settings[0]?.id ?? "";
  const here = analysis.cells.filter((c) => c.workload === workload && c.settings === settings);
  const position = new Map(analysis.loads.map((load) => [load.id, load.x]));
  const highest = (engine: string | null) =>
    here
      .filter((c) => (engine === null || c.engine === engine) && c.trials.some((t) => t.series !== null))
      .sort((a, b) => (position.get(b.load) ?? 0) - (position.get(a.load) ?? 0))[0];
  const cell = highest(analysis.baseline) ?? highest(null) ?? analysis.cells[0];
  const trial = cell?.trials.find((t) => t.series !== null) ?? cell?.trials[0];
  return {
    workload,
    settings,
    kind: analysis.loads.find((load) => load.id === cell?.load)?.kind ?? "closed",
    transaction: cell?.latency[0]?.name ?? "",
    time: "response",
    hidden: [],
    scale: "log2",
    percentile: "p99",
    latencyScale: "linear",
    engine: cell?.engine ?? "",
    load: cell?.load ?? "",
    block: trial === undefined ? "" : String(trial.block),
    counter: "",
    filter: "",
    rows: analysis.engines.filter((e) => e.missing === null).length > 1 ? "differing" : "requested",
    at: "",
  };
}

/** The part of a view that is not the default, as the text after `#`. */
export function encode(view: View, base: View): string {
  const words: string[] = [];
  for (const key of Object.keys(KEYS) as (keyof View)[]) {
    if (key === "hidden") {
      if (view.hidden.length > 0)
        words.push(`${KEYS.hidden}=${view.hidden.map(encodeURIComponent).join(",")}`);
    } else if (view[key] !== base[key]) {
      words.push(`${KEYS[key]}=${encodeURIComponent(view[key])}`);
    }
  }
  return words.join("&");
}

/** The view an address asks for; what it does not name, or names wrongly, stays as in `base`. */
export function decode(hash: string, base: View): View {
  const words = new Map(
    hash
      .replace(/^#/, "")
      .split("&")
      .map((word): [string, string] => {
        const cut = word.indexOf("=");
        return cut < 0 ? [word, ""] : [word.slice(0, cut), word.slice(cut + 1)];
      }),
  );
  const found: Record<string, unknown> = { ...base };
  for (const key of Object.keys(KEYS) as (keyof View)[]) {
    const raw = words.get(KEYS[key]);
    if (raw === undefined) continue;
    const value = key === "hidden" ? raw.split(",").map(decoded).filter(Boolean) : decoded(raw);
    const choices = CHOICES[key];
    if (choices === undefined || (typeof value === "string" && choices.includes(value))) found[key] = value;
  }
  return found as unknown as View;
}

/** The view with what this analysis does not hold put back to the default: an old link still opens. */
export function settle(view: View, base: View, analysis: Analysis): View {
  const known = (list: readonly { id: string }[], id: string) => list.some((named) => named.id === id);
  const { workloads, settings, engines, loads } = analysis;
  return {
    ...view,
    workload: known(workloads, view.workload) ? view.workload : base.workload,
    settings: known(settings, view.settings) ? view.settings : base.settings,
    engine: known(engines, view.engine) ? view.engine : base.engine,
    load: known(loads, view.load) ? view.load : base.load,
    hidden: view.hidden.filter((id) => known(engines, id)),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
