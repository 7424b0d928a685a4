/** The one place the view lives. Parts of the page watch the keys they draw from. */
import type { View } from "./view.ts";

type Key = keyof View;
interface Watcher {
  keys: readonly Key[];
  draw: (view: View) => void;
}

export class Store {
  #view: View;
  readonly #watchers: Watcher[] = [];

  constructor(view: View) {
    this.#view = view;
  }

  get view(): View {
    return this.#view;
  }

  /** Changes what is named and draws what depends on it. */
  set(change: Partial<View>): void {
    const old = this.#view;
    this.#view = { ...old, ...change };
    const changed = new Set(
      (Object.keys(this.#view) as Key[]).filter((key) => String(old[key]) !== String(this.#view[key])),
    );
    for (const { keys, draw } of this.#watchers) {
      if (keys.some((key) => changed.has(key))) draw(this.#view);
    }
  }

  /** Draws now, and again whenever one of the keys changes. */
  watch(keys: readonly Key[], draw: (view: View) => void): void {
    this.#watchers.push({ keys, draw });
    draw(this.#view);
  }
}
