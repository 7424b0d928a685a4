import { describe, expect, test } from "vitest";
import type { Analysis } from "../src/generated/analysis.ts";
import { Store } from "../src/store.ts";
import { decode, encode, settle, type View } from "../src/view.ts";

const base: View = {
  workload: "oltp_read_write",
  settings: "default",
  kind: "closed",
  transaction: "oltp_read_write",
  time: "response",
  hidden: [],
  scale: "log2",
  percentile: "p99",
  latencyScale: "linear",
  engine: "mariadb-11.8",
  load: "s16",
  block: "1",
  counter: "",
  filter: "",
  rows: "differing",
  at: "",
};

describe("permalinks", () => {
  test("the first view needs no words", () => {
    expect(encode(base, base)).toBe("");
    expect(decode("", base)).toEqual(base);
  });
  test("a view survives its address, whatever its names hold", () => {
    const view: View = {
      ...base,
      workload: "a=b&c#d",
      hidden: ["mysql-9.7", "odd,name", "</script>"],
      percentile: "p999",
      filter: "innodb %20 ü",
      at: "trial",
    };
    expect(decode(`#${encode(view, base)}`, base)).toEqual(view);
  });
  test("an address holds only what differs", () => {
    expect(encode({ ...base, scale: "linear" }, base)).toBe("x=linear");
  });
  test("what an address names wrongly is ignored", () => {
    expect(decode("#x=cubic&p=p42&q=%E0%A4%A&zzz=1&=&e", base)).toEqual({ ...base, engine: "" });
  });
});

test("an old link to what the run does not hold falls back to the default", () => {
  const named = (id: string) => ({ id, label: id, facts: [] as [string, string][] });
  const analysis = {
    workloads: [named("oltp_read_write")],
    settings: [named("default"), named("pool-2g")],
    engines: [{ id: "mariadb-11.8" }, { id: "mysql-9.7" }],
    loads: [{ id: "s16" }],
  } as unknown as Analysis;
  const view = {
    ...base,
    workload: "gone",
    settings: "pool-2g",
    load: "s512",
    hidden: ["mysql-9.7", "gone"],
  };
  expect(settle(view, base, analysis)).toEqual({ ...base, settings: "pool-2g", hidden: ["mysql-9.7"] });
});

describe("store", () => {
  test("watchers draw at once, and again only for their keys", () => {
    const store = new Store(base);
    const seen: string[] = [];
    store.watch(["scale"], (view) => seen.push(view.scale));
    store.set({ percentile: "p50" });
    store.set({ scale: "log2" });
    store.set({ scale: "linear" });
    expect(seen).toEqual(["log2", "linear"]);
  });
  test("a changed list of hidden engines is a change", () => {
    const store = new Store(base);
    const seen: number[] = [];
    store.watch(["hidden"], (view) => seen.push(view.hidden.length));
    store.set({ hidden: ["a"] });
    store.set({ hidden: ["a", "b"] });
    expect(seen).toEqual([0, 1, 2]);
  });
});
