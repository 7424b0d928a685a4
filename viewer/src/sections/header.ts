/** What was compared, where, when, and what the figures can mean. */
import { h, type Child } from "../dom.ts";
import { moment, percent, trials } from "../format.ts";
import type { Named } from "../generated/analysis.ts";
import { facts, type Page } from "../page.ts";
import { themeButton } from "../theme-button.ts";

export function header({ run }: Page): HTMLElement {
  const a = run.analysis;
  const missing = a.engines.filter((engine) => engine.missing !== null).map((engine) => engine.label);
  const labels = run.engines
    .map(({ label, server_version: version }) => (version === null ? label : `${label} (${version})`))
    .join(", ");
  const host = a.host.slice(0, 4).map(([key, value]) => (/^\d+$/.test(value) ? `${value} ${key}` : value));
  return h(
    "header",
    {},
    h(
      "div",
      { class: "brand" },
      h("span", {}, `Dyno ${a.dyno_version} · ${moment(a.created)} · ${a.run}`),
      themeButton(),
    ),
    h("h1", {}, a.title),
    a.question !== null && h("p", { class: "question" }, a.question),
    facts([
      ["Compared", labels + (missing.length > 0 ? `; not available: ${missing.join(", ")}` : "")],
      ["Workload", a.workloads.map(workload)],
      ["Host", host.join(" · ")],
      ["Trials", trialWords(a)],
      ["Pinned", `${a.placement}; a difference under ${percent(a.relevant_difference)} counts as none`],
      ["What the load measures", a.loop],
    ]),
  );
}

function trialWords(a: Page["run"]["analysis"]): Child[] {
  const lost = a.trials_planned - a.trials_ok;
  const phases = a.phases.map(([name, length]) => `${name} ${length}`).join(", ");
  return [
    `${a.trials_ok} of ${trials(a.trials_planned)} good`,
    lost > 0 && h("b", { class: "bad" }, ` (${lost} failed or missing)`),
    `, ${a.trials_per_cell} a cell; ${phases}`,
  ];
}

const FACTS = 4;

/** The first facts of a workload; all of them are one click away. */
function workload({ label, facts: all }: Named): HTMLElement {
  const words = (pairs: Named["facts"]) => pairs.map(([key, value]) => `${key} ${value}`).join(", ");
  const rest = all.slice(FACTS);
  return h(
    "div",
    {},
    [label, words(all.slice(0, FACTS))].filter(Boolean).join(", "),
    rest.length > 0 && h("details", {}, h("summary", {}, `and ${rest.length} more options`), words(rest)),
  );
}
