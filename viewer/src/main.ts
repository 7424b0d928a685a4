/** Builds the page from the analysis it carries. */
import "./style.css";
import { DataError, load } from "./data/load.ts";
import { h } from "./dom.ts";
import type { Analysis } from "./generated/analysis.ts";
import { Run } from "./run.ts";
import { comparison } from "./sections/comparison.ts";
import { answer, care } from "./sections/findings.ts";
import { header } from "./sections/header.ts";
import { latency } from "./sections/latency.ts";
import { provenance } from "./sections/provenance.ts";
import { settings } from "./sections/settings.ts";
import { throughput } from "./sections/throughput.ts";
import { toolbar } from "./sections/toolbar.ts";
import { hasTpcc, tpcc } from "./sections/tpcc.ts";
import { trial } from "./sections/trial.ts";
import { Store } from "./store.ts";
import { decode, defaults, encode, settle, type View } from "./view.ts";

function build(host: HTMLElement, analysis: Analysis): void {
  const base = defaults(analysis);
  const read = () => settle(decode(location.hash, base), base, analysis);
  const store = new Store(read());
  const page = { run: new Run(analysis), store };
  document.title = `${analysis.title} · Dyno`;
  // An open loop is run for its response times: they come first where nothing else was run.
  const waits = page.run.kinds.every((kind) => kind === "open");
  const [main, next] = waits ? [latency, throughput] : [throughput, latency];
  const first = h("div", { class: "first" }, answer(page), h("div", {}, main(page), care(page)));
  const orders = hasTpcc(page) ? [tpcc(page)] : [];
  const rest = [next(page), ...orders, comparison(page), trial(page), settings(page), provenance(page)];
  const parts = [header(page), toolbar(page), h("main", {}, first, ...rest)];
  host.replaceChildren(...parts);
  remember(store, base, read);
}

/** Keeps the address and the view the same, whichever changes. */
function remember(store: Store, base: View, read: () => View): void {
  const keys = Object.keys(base) as (keyof View)[];
  store.watch(keys, (view) => {
    const hash = encode(view, base);
    history.replaceState(null, "", hash === "" ? location.pathname + location.search : `#${hash}`);
  });
  const scroll = () => {
    document.getElementById(store.view.at)?.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", () => {
    store.set(read());
    scroll();
  });
  if (store.view.at !== "") requestAnimationFrame(() => requestAnimationFrame(scroll));
}

async function main(): Promise<void> {
  const host = document.getElementById("page");
  if (host === null) return;
  try {
    build(host, await load(document.getElementById("analysis")));
  } catch (error) {
    const words = error instanceof DataError ? error.message : `The report cannot be shown: ${String(error)}`;
    host.replaceChildren(h("p", { class: "fatal", role: "alert" }, words));
    if (!(error instanceof DataError)) throw error;
  }
}

void main();
