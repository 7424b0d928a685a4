/** The answer in computed sentences, and the reasons for care, each with a way to its evidence. */
import { h } from "../dom.ts";
import type { Cell, Finding, Mark } from "../generated/analysis.ts";
import { cellLink, type Page } from "../page.ts";
import type { Run } from "../run.ts";

const SENTENCES = 5;
const CARES = 3;
const LINKS = 2;

export function answer(page: Page): HTMLElement {
  const said = page.run.analysis.findings.filter((finding) => finding.strength !== "caution");
  const sentences = said.map((finding) => sentence(page, finding));
  return h(
    "div",
    { class: "answer card" },
    h("h2", {}, "What the numbers say"),
    sentences.length === 0
      ? h("p", { class: "note" }, "Nothing can be said of these trials; the reasons for care say why.")
      : folded(sentences, SENTENCES, "findings"),
  );
}

export function care(page: Page): HTMLElement | null {
  const items = reasons(page.run).map((each) => reason(page, each));
  if (items.length === 0) return null;
  return h("div", { class: "cares card" }, h("h2", {}, "Read with care"), folded(items, CARES, "care"));
}

function sentence(page: Page, finding: Finding): HTMLElement {
  const word = finding.strength !== "measured" && h("b", { class: "word" }, finding.strength);
  return h("li", {}, finding.sentence, word, links(page, cellsOf(page.run, finding)));
}

/** A list whose end is folded away, so that the first screen keeps its chart. */
function folded(items: readonly HTMLElement[], first: number, kind: "findings" | "care"): HTMLElement {
  const tag = kind === "findings" ? "ol" : "ul";
  const rest = items.slice(first);
  return h(
    "div",
    {},
    h(tag, { class: kind }, items.slice(0, first)),
    rest.length > 0 &&
      h(
        "details",
        {},
        h("summary", {}, `${rest.length} more`),
        h(tag, { class: kind, ...(tag === "ol" ? { start: first + 1 } : {}) }, rest),
      ),
  );
}

export interface Care {
  severity: Mark["severity"];
  text: string;
  cells: Cell[];
}

const WORDS: Record<Mark["severity"], string> = { bad: "Failed", warn: "Care", info: "Note" };
const RANK: Record<Mark["severity"], number> = { bad: 0, warn: 1, info: 2 };

function reason(page: Page, { severity, text, cells }: Care): HTMLElement {
  const word = h("b", { class: `word ${severity}` }, WORDS[severity]);
  return h("li", {}, word, h("span", {}, text, links(page, cells)));
}

/** The rule of the finding that says what a mark of this kind says, where it is not named alike. */
const RULES: Partial<Record<Mark["kind"], string>> = { invalid: "failed", missing: "unfinished" };
/** Findings that say that figures are not there at all. */
const ABSENT: readonly string[] = ["engine_missing", "failed"];

/** Cautions of the findings, marks of the cells, warnings of the host: each thing once, worst first. */
export function reasons(run: Run): Care[] {
  const { findings, cells, doctor } = run.analysis;
  const found = new Map<string, Care>();
  const cautions = findings.filter((finding) => finding.strength === "caution");
  for (const finding of cautions) {
    add(found, ABSENT.includes(finding.rule) ? "bad" : "warn", finding.sentence, ...cellsOf(run, finding));
  }
  // A finding that names a cell for the same reason says it better than the cell's own mark.
  const said = new Set(cautions.flatMap(({ rule, cells: ids }) => ids.map((id) => `${rule} ${id}`)));
  for (const cell of cells) {
    for (const { kind, severity, text } of cell.marks) {
      if (!said.has(`${RULES[kind] ?? kind} ${cell.id}`)) add(found, severity, text, cell);
    }
  }
  const host = cautions.some(({ rule }) => rule === "doctor") ? [] : doctor;
  for (const { severity, text } of host) if (severity !== "info") add(found, severity, `Host: ${text}`);
  return [...found.values()].sort((a, b) => RANK[a.severity] - RANK[b.severity]);
}

function add(found: Map<string, Care>, severity: Mark["severity"], text: string, ...cells: Cell[]): void {
  const seen = found.get(text);
  if (seen === undefined) found.set(text, { severity, text, cells });
  else seen.cells.push(...cells);
}

/** The cells a finding names, and those of the trials it names. */
function cellsOf(run: Run, finding: Finding): Cell[] {
  const trials = new Set(finding.trials);
  const named = finding.cells.map((id) => run.cellById(id)).filter((cell) => cell !== undefined);
  const within = run.analysis.cells.filter((cell) => cell.trials.some((trial) => trials.has(trial.id)));
  return [...new Set([...named, ...within])];
}

function links(page: Page, cells: readonly Cell[]): HTMLElement | null {
  if (cells.length === 0) return null;
  const all = cells.map((cell) => cellLink(page, cell));
  const rest = all.slice(LINKS);
  return h(
    "span",
    { class: "links" },
    all.slice(0, LINKS),
    rest.length > 0 && h("details", {}, h("summary", {}, `and ${rest.length} more`), rest),
  );
}
