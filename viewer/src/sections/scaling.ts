/** The scaling laws beside the throughput chart: which engine follows which, and why another follows none. */
import type { Law } from "../charts/law.ts";
import { h } from "../dom.ts";
import { figure } from "../format.ts";
import type { Estimate, Scaling } from "../generated/analysis.ts";
import { table, type Page } from "../page.ts";
import type { View } from "../view.ts";

/** The curves of a view, in the order of the engines that are shown. */
function curves({ run }: Page, view: View): Scaling[] {
  if (view.kind !== "closed") return [];
  const engines = run.shown(view).map((engine) => engine.id);
  return run.analysis.scaling
    .filter((s) => s.settings === view.settings && s.workload === view.workload && engines.includes(s.engine))
    .sort((a, b) => engines.indexOf(a.engine) - engines.indexOf(b.engine));
}

/** What the chart draws for one engine; null where it follows no law. */
export function law(page: Page, view: View, engine: string): Law | null {
  const found = curves(page, view).find((c) => c.engine === engine);
  if (found === undefined || found.curve.length === 0) return null;
  const points = found.curve.map(({ sessions: x, value, low, high }) => ({ x, value, low, high }));
  const { peak_sessions: at, peak_per_s: height, extrapolated } = found;
  if (!at || !height || extrapolated) return { points, peak: null };
  const text = `${page.run.label(engine)}: the law's peak, ${spread(height)}/s at ${spread(at)} sessions`;
  return { points, peak: { x: at.value, value: height.value, text } };
}

/** The table under the chart; nothing where no engine had levels enough to be asked. */
export function laws(page: Page, view: View): HTMLElement[] {
  const asked = curves(page, view).filter((curve) => curve.refused !== "few levels");
  if (asked.length === 0) return [];
  const rows = asked.map((curve) => [
    page.run.label(curve.engine),
    NAMES[curve.law ?? "none"],
    ...[curve.gamma_per_s, curve.alpha, curve.beta, curve.peak_sessions, curve.peak_per_s].map(cell),
    curve.reason ?? curve.peak_note ?? "",
  ]);
  const words =
    "Dashed: the scaling law that an engine follows, with the 95 % interval of the curve; N* is its peak.";
  return [
    h("p", { class: "note" }, words),
    h(
      "details",
      {},
      h("summary", {}, "The scaling laws in this chart"),
      table("Scaling laws", COLUMNS, rows),
    ),
  ];
}

const COLUMNS = ["Engine", "Law", "γ, tx/s", "α", "β", "Peak N*", "X(N*), tx/s", "Note"];
const NAMES = { usl: "USL", amdahl: "Amdahl", none: "none" };

function cell(estimate: Estimate | null | undefined): string {
  return estimate ? spread(estimate) : "";
}

/** A value with its interval; what is far below 1 in powers of ten. */
function spread({ value, low, high }: Estimate): string {
  const ends = [value, low, high].map((v) => (v === null ? "" : small(v)));
  return low === null || high === null ? (ends[0] ?? "") : `${ends[0]} [${ends[1]}, ${ends[2]}]`;
}

function small(value: number): string {
  return value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(2) : figure(value);
}
