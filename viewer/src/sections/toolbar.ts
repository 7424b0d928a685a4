/** What is shown everywhere: the legend that switches engines, the workload and settings, the way to each section. */
import { swatch } from "../charts/levels.ts";
import { picker } from "../controls.ts";
import { h } from "../dom.ts";
import { jump, type Page } from "../page.ts";
import { hasTpcc } from "./tpcc.ts";

export const SECTIONS: readonly (readonly [string, string])[] = [
  ["throughput", "Throughput"],
  ["latency", "Latency"],
  ["tpcc", "NOPM"],
  ["comparison", "Comparison"],
  ["trial", "Over time"],
  ["settings", "Settings"],
  ["provenance", "Provenance"],
];

export function toolbar({ run, store }: Page): HTMLElement {
  const { workloads, settings } = run.analysis;
  const list = (named: typeof workloads) => () => named.map(({ id, label }) => ({ value: id, label }));
  const kinds = run.kinds.map((kind) => ({
    value: kind,
    label: kind === "closed" ? "closed loop" : "open loop",
  }));
  const bar = h(
    "div",
    { class: "toolbar" },
    h(
      "nav",
      { "aria-label": "Sections" },
      SECTIONS.filter(([id]) => id !== "tpcc" || hasTpcc({ run, store })).map(([id, title]) =>
        jump(store, id, title),
      ),
    ),
    h("div", { class: "legend", role: "group", "aria-label": "Engines shown" }, legend({ run, store })),
    workloads.length > 1 && picker(store, "workload", "Workload", list(workloads)),
    settings.length > 1 && picker(store, "settings", "Settings", list(settings)),
    kinds.length > 1 && picker(store, "kind", "Load", () => kinds),
  );
  // Sections that are jumped to stop below the bar, which wraps to as many lines as it needs.
  new ResizeObserver(() => {
    document.documentElement.style.setProperty("--toolbar", `${bar.offsetHeight}px`);
  }).observe(bar);
  return bar;
}

function legend({ run, store }: Page): HTMLElement[] {
  return run.engines.map(({ id, label }) => {
    const button = h(
      "button",
      {
        type: "button",
        "data-engine": id,
        title: `show or hide ${label}`,
        click: () => {
          const { hidden } = store.view;
          store.set({ hidden: hidden.includes(id) ? hidden.filter((h) => h !== id) : [...hidden, id] });
        },
      },
      swatch(run.slot(id)),
      h("span", {}, label),
    );
    store.watch(["hidden"], (view) => {
      button.setAttribute("aria-pressed", String(!view.hidden.includes(id)));
    });
    return button;
  });
}
