/** Controls bound to the view: each shows what is chosen and changes it. */
import { h } from "./dom.ts";
import type { Store } from "./store.ts";
import type { View } from "./view.ts";

/** Keys of the view that hold one word. */
type WordKey = { [K in keyof View]: View[K] extends string ? K : never }[keyof View];

export interface Option {
  value: string;
  label: string;
}

let serial = 0;

/** A row of radio buttons for a few short choices. */
export function segmented(
  store: Store,
  key: WordKey,
  title: string,
  options: readonly Option[],
): HTMLElement {
  serial += 1;
  const name = `${key}-${serial}`;
  const inputs = options.map(({ value }) =>
    h("input", {
      type: "radio",
      name,
      value,
      change: () => {
        store.set({ [key]: value });
      },
    }),
  );
  store.watch([key], (view) => {
    for (const input of inputs) input.checked = input.value === view[key];
  });
  const labels = inputs.map((input, index) => h("label", {}, input, h("span", {}, options[index]?.label)));
  return h("fieldset", { class: "segmented" }, h("legend", {}, title), labels);
}

/** A drop-down list; `options` is asked again when one of the keys in `on` changes. */
export function picker(
  store: Store,
  key: WordKey,
  title: string,
  options: (view: View) => readonly Option[],
  on: readonly (keyof View)[] = [],
): HTMLElement {
  const select = h("select", {
    "aria-label": title,
    change: () => {
      store.set({ [key]: select.value });
    },
  });
  const whole = h("label", { class: "picker" }, h("span", {}, title), select);
  store.watch([key, ...on], (view) => {
    const choices = options(view);
    select.replaceChildren(...choices.map(({ value, label }) => h("option", { value }, label)));
    whole.hidden = choices.length === 0;
    select.value = view[key];
    if (select.selectedIndex < 0) select.selectedIndex = 0;
  });
  return whole;
}
