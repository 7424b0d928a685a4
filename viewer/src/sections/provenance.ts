/** Exact versions, the host, what failed, and how to do it again. */
import { h } from "../dom.ts";
import type { Engine, TrialResult } from "../generated/analysis.ts";
import { cellLink, facts, section, table, type Page } from "../page.ts";

export function provenance(page: Page): HTMLElement {
  const { run } = page;
  const a = run.analysis;
  return section(
    "provenance",
    "Where the figures come from",
    h("h3", {}, "Engines"),
    table("Engines", ["Engine", "Server's own version", "Source", "Content"], a.engines.map(engine), {
      stack: true,
    }),
    h("h3", {}, "Host"),
    facts([...a.host, ["Pinned", a.placement]]),
    a.noise_floor !== null && h("p", { class: "note" }, a.noise_floor.sentence),
    doctor(page),
    h("h3", {}, "Trials that are not in the figures"),
    failures(page),
    h("h3", {}, "How to repeat it"),
    repeat(page),
    a.tables.length > 0 && h("h3", {}, "All tables"),
    a.tables.map(({ title, columns, rows, note }) =>
      h(
        "details",
        {},
        h("summary", {}, title),
        table(title, columns, rows),
        note !== null && h("p", { class: "note" }, note),
      ),
    ),
  );
}

function engine(e: Engine): (Node | string)[] {
  if (e.missing !== null) {
    return [e.label, h("b", { class: "bad" }, "not measured"), e.source, `${e.version}: ${e.missing}`];
  }
  const packages = e.packages.map((p) =>
    h("li", {}, `${p.name} ${p.version}`, p.sha256 !== null && h("code", {}, p.sha256)),
  );
  return [
    e.label,
    e.server_version ?? "not known: it never started",
    e.source,
    h(
      "div",
      { class: "content" },
      e.content_sha256 !== null &&
        h("code", { title: e.content_sha256 }, `sha256 ${e.content_sha256.slice(0, 16)}…`),
      packages.length > 0 &&
        h(
          "details",
          {},
          h("summary", {}, packages.length === 1 ? "1 package" : `${packages.length} packages`),
          h("ul", {}, packages),
        ),
    ),
  ];
}

const VERDICTS = { info: "Note", warn: "Care", bad: "Wrong" } as const;

function doctor({ run }: Page): HTMLElement {
  const list = run.analysis.doctor;
  if (list.length === 0)
    return h("p", { class: "note" }, "The check of the host found nothing that would spoil a measurement.");
  return h(
    "ul",
    { class: "doctor" },
    list.map(({ severity, text }) =>
      h("li", {}, h("b", { class: `word ${severity}` }, VERDICTS[severity]), h("span", {}, text)),
    ),
  );
}

function failures(page: Page): HTMLElement {
  const lost = page.run.analysis.cells.flatMap((cell) =>
    cell.trials.filter((t) => t.status !== "ok").map((found) => ({ cell, found })),
  );
  if (lost.length === 0) return h("p", { class: "note" }, "None: every planned trial is in the figures.");
  return h(
    "ul",
    { class: "failures" },
    lost.map(({ cell, found }) => h("li", {}, cellLink(page, cell, found.block), why(found))),
  );
}

function why(found: TrialResult): HTMLElement {
  return h(
    "div",
    {},
    h("p", {}, h("b", { class: "bad" }, found.status), `: ${found.reason ?? "no reason was recorded"}`),
    found.hint !== null && h("p", { class: "note" }, `hint: ${found.hint}`),
    found.log_tail !== null &&
      h(
        "details",
        {},
        h("summary", {}, "The server's last log lines"),
        h("pre", { tabindex: 0 }, found.log_tail),
      ),
  );
}

function repeat({ run }: Page): HTMLElement {
  const { reproduction: r, run: id, dyno_version: version } = run.analysis;
  if (r === null)
    return h("p", { class: "note" }, "This run was imported; its records do not say how to repeat it.");
  return h(
    "div",
    {},
    facts([
      ["Command", h("code", {}, r.command.join(" "))],
      ["Run", id],
      ["Seed of the order and the input", String(r.seed)],
      ["Plan, sha256", h("code", { class: "hash" }, r.plan_sha256)],
      ["Dyno", version],
    ]),
    h("details", {}, h("summary", {}, "The plan as written"), h("pre", { tabindex: 0 }, r.plan_toml)),
  );
}
