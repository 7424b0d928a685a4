/** The settings each engine really ran with: what was asked, what the server reports, differences first. */
import { segmented } from "../controls.ts";
import { h, type Child } from "../dom.ts";
import { bytes } from "../format.ts";
import type { SettingRow } from "../generated/analysis.ts";
import { facts, section, table, type Page } from "../page.ts";
import type { View } from "../view.ts";

const ROWS = [
  { value: "differing", label: "differing" },
  { value: "requested", label: "asked for" },
  { value: "all", label: "all" },
];

export function settings(page: Page): HTMLElement {
  const { run, store } = page;
  const count = h("p", { class: "note", role: "status" });
  const body = h("div", {});
  const filter = h("input", {
    type: "search",
    placeholder: "variable or value",
    spellcheck: "false",
    input: () => {
      store.set({ filter: filter.value });
    },
  });
  store.watch(["filter"], (view) => {
    if (filter.value !== view.filter) filter.value = view.filter;
  });
  store.watch(["filter", "rows", "settings", "hidden"], (view) => {
    const all = run.analysis.setting_rows.filter((row) => row.settings === view.settings);
    const list = ranked(all.filter((row) => wanted(row, view)));
    count.textContent = `${list.length} of ${all.length} variables`;
    body.replaceChildren(
      ...(view.rows === "differing" ? weighed(page, view, list) : [rows(page, view, list)]),
    );
  });
  return section(
    "settings",
    "Settings each engine really ran with",
    asked(page),
    h(
      "div",
      { class: "controls" },
      segmented(store, "rows", "Show", ROWS),
      h("label", { class: "picker" }, h("span", {}, "Filter"), filter),
    ),
    count,
    body,
  );
}

/** The logical settings all engines were asked for. */
function asked({ run, store }: Page): HTMLElement {
  const body = h("details", {});
  store.watch(["settings"], (view) => {
    const found = run.analysis.settings.find(({ id }) => id === view.settings)?.facts ?? [];
    body.replaceChildren(
      h("summary", {}, `Asked of every engine alike: ${found.length} logical settings`),
      facts(found, "brief"),
    );
  });
  return body;
}

function wanted(row: SettingRow, view: View): boolean {
  const asked = row.logical !== null || Object.values(row.requested).some((value) => value !== null);
  if (view.filter !== "") {
    const words = [row.variable, row.logical ?? "", ...Object.values(row.effective)].join("\n").toLowerCase();
    if (!words.includes(view.filter.toLowerCase())) return false;
  }
  if (view.rows === "all") return true;
  return view.rows === "requested" ? asked : row.differs || row.ignored.length > 0;
}

/** What a server ignored first, then what differs among what was asked, then other differences, in the analysis' order. */
function ranked(rows: SettingRow[]): SettingRow[] {
  const rank = (row: SettingRow) =>
    (row.ignored.length > 0 ? 0 : 4) + (row.differs ? 0 : 2) + (row.logical === null ? 1 : 0);
  return rows.sort((a, b) => rank(a) - rank(b));
}

const WEIGHTS = [
  { weight: "matters", title: "Different, and it matters for the workloads of this run" },
  { weight: "unknown", title: "Different, with an effect that is not known" },
  { weight: "cosmetic", title: "Different, but no effect is to be expected here" },
] as const;

/** Differences by what they mean for the run's workloads; those without effect are folded away. */
function weighed(page: Page, view: View, list: readonly SettingRow[]): HTMLElement[] {
  const plain = list.filter((row) => row.weight === null || row.ignored.length > 0);
  const groups = WEIGHTS.flatMap(({ weight, title }) => {
    const group = list.filter((row) => row.weight === weight && !plain.includes(row));
    if (group.length === 0) return [];
    const head = `${title}: ${group.length}`;
    const body = rows(page, view, group);
    if (weight !== "cosmetic") return [h("h3", {}, head), body];
    return [h("details", { class: "cosmetic" }, h("summary", {}, head), body)];
  });
  return plain.length > 0 ? [rows(page, view, plain), ...groups] : groups;
}

/** Rows beyond these are folded away: a page of settings is enough to see what matters. */
const FIRST = 40;

function rows({ run }: Page, view: View, list: readonly SettingRow[]): HTMLElement {
  const engines = run.shown(view);
  const part = (some: readonly SettingRow[]) => {
    const body = some.map((row): Child[] => [
      h(
        "span",
        { class: "variable" },
        row.variable,
        row.logical !== null && h("small", {}, row.logical),
        row.idle !== null && h("small", {}, `no matter: ${row.idle}`),
        row.reason !== null && h("small", {}, row.reason),
      ),
      ...engines.map(({ id }) => value(row, id)),
    ]);
    const columns = ["Variable", ...engines.map(({ label }) => label)];
    const whole = table("Server variables", columns, body, { class: "variables", stack: true });
    whole.querySelector("table")?.style.setProperty("min-width", `${11 * columns.length}rem`);
    return whole;
  };
  const rest = list.slice(FIRST);
  return h(
    "div",
    {},
    part(list.slice(0, FIRST)),
    rest.length > 0 && h("details", {}, h("summary", {}, `${rest.length} more`), part(rest)),
  );
}

function value(row: SettingRow, engine: string): HTMLElement {
  const effective = row.effective[engine] ?? null;
  const requested = row.requested[engine] ?? null;
  const ignored = row.ignored.includes(engine);
  return h(
    "span",
    { class: ignored ? "value ignored" : "value" },
    effective === null ? h("i", {}, "has no such variable") : shownValue(row, effective),
    requested !== null &&
      (ignored || requested !== effective) &&
      h("small", {}, `asked for ${[requested, size(requested)].filter((v) => v !== null).join(", ")}`),
    ignored && h("b", { class: "bad" }, "not taken by the server"),
  );
}

/** A value as the server reports it; of long lists first what the engines do not share. */
function shownValue(row: SettingRow, effective: string): Child {
  const parts = effective.split(",");
  const others = Object.values(row.effective).filter((v) => v !== null);
  const shared = parts.filter((part) => others.every((other) => other.split(",").includes(part)));
  if (!row.differs || shared.length < 4) {
    const inBytes = size(effective);
    return [
      h("code", {}, effective === "" ? "(empty)" : broken(parts)),
      inBytes !== null && h("small", {}, inBytes),
    ];
  }
  const own = parts.filter((part) => !shared.includes(part));
  return [
    h("code", {}, own.length === 0 ? "(nothing of its own)" : broken(own)),
    h("details", {}, h("summary", {}, `and ${shared.length} alike`), h("code", {}, broken(shared))),
  ];
}

/** Lists may break after a comma. */
function broken(parts: readonly string[]): Child[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [",", h("wbr"), part]));
}

/** "256 MiB" beside a number that is a round count of bytes, else null. */
function size(text: string): string | null {
  const value = /^\d{7,15}$/.test(text) ? Number(text) : 0;
  return value >= 1 << 20 && value % 65536 === 0 ? bytes(value) : null;
}
