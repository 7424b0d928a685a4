/** What every section is given, and the frames they share. */
import { h, type Child } from "./dom.ts";
import type { Run } from "./run.ts";
import type { Store } from "./store.ts";
import type { Cell } from "./generated/analysis.ts";

export interface Page {
  run: Run;
  store: Store;
}

/** A section with the anchor that links and the navigation use. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    ...children,
  );
}

/** Scrolls to a section, and says so in the address. */
export function go(store: Store, at: string): void {
  store.set({ at });
  document.getElementById(at)?.scrollIntoView({ block: "start" });
}

/** A link to a section of this page. */
export function jump(store: Store, at: string, ...children: Child[]): HTMLElement {
  return h(
    "a",
    {
      href: `#at=${at}`,
      click: (event) => {
        event.preventDefault();
        go(store, at);
      },
    },
    ...children,
  );
}

/** A link that shows one cell's evidence: its trials over time. */
export function cellLink({ run, store }: Page, cell: Cell, block?: number): HTMLElement {
  const words = run.cellLabel(cell) + (block === undefined ? "" : ` · trial ${block}`);
  return h(
    "a",
    {
      href: "#at=trial",
      class: "evidence",
      click: (event) => {
        event.preventDefault();
        const { engine, load, workload, settings } = cell;
        const shown = block ?? cell.trials.find((t) => t.series !== null)?.block ?? cell.trials[0]?.block;
        store.set({ engine, load, workload, settings, block: String(shown ?? "") });
        go(store, "trial");
      },
    },
    words,
  );
}

/** A table that scrolls within itself where the page is narrow. */
export function table(
  caption: string,
  columns: readonly Child[],
  rows: readonly (readonly Child[])[],
  options: { class?: string; stack?: boolean; heads?: readonly string[] } = {},
): HTMLElement {
  const body = rows.map((row) =>
    h(
      "tr",
      {},
      row.map((cell, index) => {
        const attributes = {
          "data-head": options.heads?.[index] ?? (typeof columns[index] === "string" ? columns[index] : ""),
        };
        return index === 0 ? h("th", { scope: "row", ...attributes }, cell) : h("td", attributes, cell);
      }),
    ),
  );
  const head = h(
    "tr",
    {},
    columns.map((column) => h("th", { scope: "col" }, column)),
  );
  const whole = h(
    "table",
    { class: [options.class ?? "", options.stack === true ? "stack" : ""].join(" ").trim() },
    h("caption", { class: "unseen" }, caption),
    h("thead", {}, head),
    h("tbody", {}, body),
  );
  return h("div", { class: "scroller", tabindex: 0, role: "group", "aria-label": caption }, whole);
}

/** Label and value pairs. */
export function facts(pairs: readonly (readonly [string, Child])[], kind = ""): HTMLElement {
  return h(
    "dl",
    { class: `facts ${kind}`.trim() },
    pairs.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value))),
  );
}
