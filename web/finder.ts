/**
 * Find: a list of quantities, datasets, times, methods, positions and commands, searched by typing; also long menus.
 */
import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit-html";

export interface Item {
  readonly name: string;
  readonly about: string;
  readonly kind: string;
  readonly words?: string;
  readonly run: () => void;
}

interface Finder {
  readonly title: string;
  readonly items: readonly Item[];
  /** Makes an item of the typed text, such as an expression; null if it is none. */
  readonly typed?: (text: string) => Item | null;
}

export const finder = signal<Finder | null>(null);
const text = signal("");
const chosen = signal(0);
let before: Element | null = null;

/** The score of a text for a typed one: its letters in order, higher where words begin; null if they are not in it. */
export function fitOf(typed: string, item: string): number | null {
  const [wanted, given] = [typed, item].map((one) => one.toLowerCase().replaceAll("−", "-").replace(/ *= */, "="));
  if (/^t=./.test(wanted)) return /^t=/.test(given) && +given.slice(2) === +wanted.slice(2) ? 200 : null;
  if (wanted === "") return 0;
  const whole = given.indexOf(wanted);
  if (whole >= 0) return 100 - whole / 10 + (whole === 0 || /\W/.test(given[whole - 1]) ? 50 : 0);
  let [at, score] = [-1, 0];
  for (const letter of wanted) {
    if (letter === " ") continue;
    const next = given.indexOf(letter, at + 1);
    if (next < 0) return null;
    score += next === at + 1 ? 3 : next === 0 || /\W/.test(given[next - 1]) ? 2 : -0.2 * (next - at);
    at = next;
  }
  return score > wanted.length * 0.8 ? score : null;
}

function listed(): readonly Item[] {
  const now = finder.value;
  if (now === null) return [];
  const typed = text.value.trim();
  const scored = now.items.flatMap((item) => {
    const parts = [item.name, item.about, item.words ?? "", item.kind];
    const best = Math.max(...parts.map((part, i) => (fitOf(typed, part) ?? Number.NEGATIVE_INFINITY) - i));
    return best === Number.NEGATIVE_INFINITY ? [] : [{ item, best }];
  });
  const found = typed === "" ? now.items : scored.toSorted((a, b) => b.best - a.best).map(({ item }) => item);
  const own = typed === "" ? null : now.typed?.(typed);
  return own == null ? found : [...found.slice(0, 40), own];
}

export function openFinder(next: Finder): void {
  before = document.activeElement;
  text.value = "";
  chosen.value = 0;
  finder.value = next;
}

export function closeFinder(): void {
  finder.value = null;
  if (before instanceof HTMLElement) before.focus();
}

function take(item: Item | undefined): void {
  if (item === undefined) return;
  closeFinder();
  item.run();
}

function onKey(event: KeyboardEvent): void {
  const items = listed();
  const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
  const move = moves[event.key];
  if (move !== undefined) {
    event.preventDefault();
    chosen.value = Math.min(items.length - 1, Math.max(0, chosen.value + move));
    queueMicrotask(() => document.querySelector(".finder [aria-selected=true]")?.scrollIntoView({ block: "nearest" }));
  } else if (event.key === "Enter") {
    event.preventDefault();
    take(items[chosen.value]);
  }
}

export function finderView(): TemplateResult | typeof nothing {
  const now = finder.value;
  if (now === null) return nothing;
  const items = listed();
  return html`<dialog class="finder" aria-label=${now.title} @close=${closeFinder} @click=${(event: Event) => {
    if (event.target instanceof HTMLDialogElement) event.target.close();
  }}>
    <input role="combobox" aria-expanded="true" aria-controls="found" aria-label=${now.title} placeholder=${now.title}
      aria-activedescendant=${`found-${chosen.value}`} autocomplete="off" spellcheck="false" .value=${text.value}
      @input=${(event: Event) => {
        text.value = (event.target as HTMLInputElement).value;
        chosen.value = 0;
      }} @keydown=${onKey} />
    <ul id="found" role="listbox" aria-label="Found">
      ${items.map(
        (item, i) => html`<li id=${`found-${i}`} role="option" aria-selected=${i === chosen.value ? "true" : "false"}
          @click=${() => take(item)} @pointermove=${() => {
            if (chosen.peek() !== i) chosen.value = i;
          }}><b>${item.name}</b><span>${item.about}</span><small>${item.kind}</small></li>`,
      )}
      ${items.length === 0 ? html`<li role="option" aria-selected="false"><span>Nothing found</span></li>` : nothing}
    </ul>
  </dialog>`;
}
