/** One analysis with the look-ups the page needs. It finds, it never computes a figure. */
import type { Analysis, Cell, Comparison, Engine, Latency, Load, TrialResult } from "./generated/analysis.ts";
import type { View } from "./view.ts";

/** What stands before a statement's name where a transaction's could be. */
export const STATEMENT = "statement:";

/** Colours and marker shapes are told apart up to this many engines; later ones repeat them, dashed. */
export const SLOTS = 8;

export class Run {
  readonly analysis: Analysis;
  /** The engines that were run, in the plan's order: their colours follow it and never change. */
  readonly engines: readonly Engine[];
  readonly #cells: ReadonlyMap<string, Cell>;
  readonly #byId: ReadonlyMap<string, Cell>;
  readonly #order: ReadonlyMap<string, number>;
  readonly #loads: ReadonlyMap<string, Load>;

  constructor(analysis: Analysis) {
    this.analysis = analysis;
    const key = (c: Cell) => cellKey(c.engine, c.settings, c.workload, c.load);
    this.#cells = new Map(analysis.cells.map((cell) => [key(cell), cell]));
    this.#byId = new Map(analysis.cells.map((cell) => [cell.id, cell]));
    this.#order = new Map(analysis.engines.map((engine, index) => [engine.id, index]));
    this.#loads = new Map(analysis.loads.map((load) => [load.id, load]));
    const ran = new Set(analysis.cells.map((cell) => cell.engine));
    this.engines = analysis.engines.filter((engine) => ran.has(engine.id));
  }

  cell(view: Pick<View, "settings" | "workload">, engine: string, load: string): Cell | undefined {
    return this.#cells.get(cellKey(engine, view.settings, view.workload, load));
  }

  cellById(id: string): Cell | undefined {
    return this.#byId.get(id);
  }

  /** The trial whose series are shown, and its cell. */
  trial(view: View): { cell: Cell; trial: TrialResult } | undefined {
    const cell = this.cell(view, view.engine, view.load);
    if (cell === undefined) return undefined;
    const trial =
      cell.trials.find((t) => String(t.block) === view.block) ??
      cell.trials.find((t) => t.series !== null) ??
      cell.trials[0];
    return trial === undefined ? undefined : { cell, trial };
  }

  /** Constant levels of one kind in rising order: those that have a place on an axis. */
  levels(kind: Load["kind"]): Load[] {
    return this.loads(kind).filter((load) => load.schedule === null);
  }

  /** Levels of one kind in rising order. */
  loads(kind: Load["kind"]): Load[] {
    return this.analysis.loads.filter((load) => load.kind === kind).sort((a, b) => a.x - b.x);
  }

  get kinds(): Load["kind"][] {
    return [...new Set(this.analysis.loads.map((load) => load.kind))];
  }

  /** The transaction types that have latencies. */
  get transactions(): string[] {
    return [...new Set(this.analysis.cells.flatMap((cell) => cell.latency.map((l) => l.name)))];
  }

  /** The statement types that have latencies. */
  get statements(): string[] {
    return [...new Set(this.analysis.cells.flatMap((cell) => cell.statements.map((l) => l.name)))];
  }

  /** The latency of a cell that the view asks for: of a statement, or one of the times of a transaction. */
  latency(cell: Cell | undefined, view: Pick<View, "transaction" | "time">): Latency | undefined {
    if (cell === undefined) return undefined;
    const name = view.transaction;
    if (name.startsWith(STATEMENT)) {
      return cell.statements.find((l) => l.name === name.slice(STATEMENT.length));
    }
    const open = { response: cell.latency, service: cell.service, lag: cell.lag };
    const lines = cell.loop === "open" ? open[view.time] : cell.latency;
    return lines.find((l) => l.name === name) ?? lines[0];
  }

  shown(view: View): Engine[] {
    return this.engines.filter((engine) => !view.hidden.includes(engine.id));
  }

  comparisons(view: View): Comparison[] {
    return this.analysis.comparisons.filter(
      (c) => c.settings === view.settings && c.workload === view.workload && !view.hidden.includes(c.engine),
    );
  }

  label(engine: string): string {
    return this.analysis.engines.find((e) => e.id === engine)?.label ?? engine;
  }

  loadLabel(load: string): string {
    return this.#loads.get(load)?.label ?? load;
  }

  /** "MariaDB 11.8 · 16 sessions", with workload and settings where there are several. */
  cellLabel(cell: Cell): string {
    const { workloads, settings } = this.analysis;
    const name = (list: typeof workloads, id: string) => list.find((n) => n.id === id)?.label ?? id;
    const words = [this.label(cell.engine), this.loadLabel(cell.load)];
    if (workloads.length > 1) words.push(name(workloads, cell.workload));
    if (settings.length > 1) words.push(name(settings, cell.settings));
    return words.join(" · ");
  }

  slot(engine: string): number {
    return this.#order.get(engine) ?? 0;
  }
}

function cellKey(...parts: string[]): string {
  return JSON.stringify(parts);
}
