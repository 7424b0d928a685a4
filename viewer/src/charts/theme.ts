/** Colours of the style sheet as canvas knows them. */

/** Resolves a custom property, light or dark, to a colour; the probe is what makes light-dark() decide. */
export function colour(name: string): string {
  const probe = document.createElement("span");
  probe.hidden = true;
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** The same colour, seen through. */
export function faded(rgb: string, alpha: number): string {
  return rgb.replace(/^rgb\(([^)]+)\)$/, `rgba($1, ${alpha})`);
}

/** Calls back when light turns dark or back, by the reader's system or by the page's button. */
export function onTheme(draw: () => void): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}
