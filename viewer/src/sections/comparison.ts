/** Each engine against the baseline in words, with the ratio, its interval and the verdict. */
import { h, svg } from "../dom.ts";
import { interval, percent, ratio } from "../format.ts";
import type { Comparison } from "../generated/analysis.ts";
import { section, table, type Page } from "../page.ts";
import { slotClass, marker } from "../charts/levels.ts";
import type { View } from "../view.ts";

/** Sign and word beside the colour: no verdict rests on colour alone. */
const SIGNS: Record<Comparison["verdict"], { sign: string; tone: string }> = {
  faster: { sign: "▲", tone: "good" },
  slower: { sign: "▼", tone: "worse" },
  "no relevant difference": { sign: "=", tone: "same" },
  undecided: { sign: "?", tone: "open" },
  untested: { sign: "·", tone: "open" },
  missing: { sign: "×", tone: "open" },
};

export function comparison(page: Page): HTMLElement {
  const { run, store } = page;
  const { baseline, relevant_difference: delta } = run.analysis;
  const body = h("div", {});
  const note = h("p", { class: "note" });
  store.watch(["workload", "settings", "kind", "hidden"], (view) => {
    note.textContent = explain(view.kind, delta);
    const order = new Map(run.loads(view.kind).map(({ id }, index) => [id, index]));
    const list = run.comparisons(view).filter((c) => order.has(c.load));
    list.sort(
      (a, b) =>
        run.slot(a.engine) - run.slot(b.engine) || (order.get(a.load) ?? 0) - (order.get(b.load) ?? 0),
    );
    body.replaceChildren(
      list.length === 0
        ? h("p", { class: "note" }, "Nothing is compared here.")
        : rows(page, list, view.kind),
    );
  });
  return section(
    "comparison",
    baseline === null ? "Comparison" : `Compared with ${run.label(baseline)}`,
    note,
    body,
  );
}

/** What is compared depends on the loop: capacity in a closed one, what users wait in an open one. */
function explain(kind: View["kind"], delta: number): string {
  const measure = kind === "closed" ? "throughput" : "the p99 response time (less is faster)";
  return (
    `Ratio of ${measure}, engine ÷ baseline, with its 95 % interval. “Faster” and “slower” need an interval clear of 1; ` +
    `“no relevant difference” one that stays within ±${percent(delta)}; anything else is undecided. ` +
    "p is Holm-adjusted over the table."
  );
}

function rows({ run }: Page, list: readonly Comparison[], kind: View["kind"]): HTMLElement {
  const ends = list.flatMap(({ ratio: r }) =>
    r === null ? [] : [r.value, r.low ?? r.value, r.high ?? r.value],
  );
  // The forest's axis is logarithmic and symmetric about 1: half as fast is as far as twice as fast.
  const reach = Math.min(
    Math.max(...ends.map((v) => Math.abs(Math.log(Math.max(v, 0.01)))), 0.1) * 1.1,
    Math.log(8),
  );
  const body = list.map((c) => {
    const { sign, tone } = SIGNS[c.verdict];
    return [
      h("span", { class: "who" }, run.label(c.engine), h("small", {}, run.loadLabel(c.load))),
      h("span", { class: `verdict ${tone}` }, h("i", { "aria-hidden": "true" }, sign), c.verdict),
      c.ratio === null ? "–" : h("b", {}, ratio(c.ratio.value)),
      c.ratio === null ? "–" : interval(c.ratio, (v) => ratio(v).replace("×", "")),
      c.ratio === null ? null : forest(c.ratio, reach, run.slot(c.engine), run.analysis.relevant_difference),
      c.ratio === null ? "0" : String(c.ratio.n),
      c.p_value_holm === null ? "–" : c.p_value_holm < 0.001 ? "< 0.001" : c.p_value_holm.toFixed(3),
      h("span", { class: "sentence" }, c.sentence),
    ];
  });
  const columns = [
    "Engine",
    "Verdict",
    "Ratio",
    "95 % interval",
    kind === "closed" ? "slower ← 1 → faster" : "faster ← 1 → slower",
    "n",
    "p",
    "In words",
  ];
  return table("Comparison with the baseline", columns, body, { class: "comparison", stack: true });
}

const [WIDE, HIGH] = [150, 22];

function forest(
  r: NonNullable<Comparison["ratio"]>,
  reach: number,
  slot: number,
  delta: number,
): SVGSVGElement {
  const at = (v: number) =>
    WIDE / 2 + (Math.max(-1, Math.min(1, Math.log(Math.max(v, 0.01)) / reach)) * (WIDE - 12)) / 2;
  const middle = HIGH / 2;
  const band = { x: at(1 - delta), width: at(1 + delta) - at(1 - delta), y: 0, height: HIGH };
  return svg(
    "svg",
    {
      class: `forest ${slotClass(slot)}`,
      width: WIDE,
      height: HIGH,
      role: "img",
      "aria-label": `ratio ${ratio(r.value)}`,
    },
    svg("rect", { class: "band", ...band }),
    svg("line", { class: "one", x1: at(1), x2: at(1), y1: 0, y2: HIGH }),
    r.low !== null &&
      r.high !== null &&
      svg("line", { class: "whisker", x1: at(r.low), x2: at(r.high), y1: middle, y2: middle }),
    svg("path", { class: "marker", d: marker(slot, at(r.value), middle, 4.2) }),
  );
}
