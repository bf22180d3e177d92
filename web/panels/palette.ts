/** The palette finds any control of the page by its name, and lists the keys and gestures of the picture. */
import { html, nothing, render, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";

/** Something of the page with the name that the palette shows. */
export interface FoundControl {
  readonly name: string;
  /** Further words by which it is found: what a closed panel holds. */
  readonly words: string;
  /** Goes to it. */
  readonly go: () => void;
  /** Whether it comes after others that match as well. */
  readonly late?: boolean;
}

/** Most controls in the list at a time. */
const MOST = 12;

/** Keys and gestures, with what they do. */
const GESTURES: readonly (readonly [string, string])[] = [
  ["wheel, pinch, or + and −", "zoom about the pointer, or between the fingers"],
  ["drag, also by a finger", "move the zoomed plane; turn 3-D"],
  ["Shift and drag", "zoom to a box"],
  ["double click or tap, or 0", "show the whole plane"],
  ["click, tap, or Enter", "put the probe here"],
  ["arrow keys", "move the cursor; with Shift ten samples at a time"],
  ["Space", "play and pause"],
  ["3", "go to the 3-D view; in it, close it"],
  ["[", "fold and unfold the controls"],
  ["/, or anywhere Ctrl+K", "find a control by name"],
  ["?", "show this list"],
];

/** Every control that can be used now, by its label. */
function controlsOf(root: HTMLElement): FoundControl[] {
  const elements = root.querySelectorAll<HTMLElement>(
    "select, input, button:not(.sheet-bar button), summary, a[href], textarea",
  );
  return [...elements].flatMap((element) => {
    const label = (element as HTMLInputElement).labels?.[0] ?? null;
    const own = element.matches("button, summary, a") ? element.textContent : ownText(label);
    const name = (element.getAttribute("aria-label") ?? own ?? "").trim().replaceAll(/\s+/g, " ");
    const { words = "" } = element.dataset;
    const found = { name, words, go: () => goTo(element, words !== ""), late: element.matches("summary") };
    return name === "" || element.matches(":disabled") ? [] : [found];
  });
}

/**
 * Goes to a control, opening what hides it; a button that the window has no room for is pressed.
 *
 * @param opens whether the control opens what is looked for
 */
function goTo(element: HTMLElement, opens: boolean): void {
  for (let box = element.closest("details"); box !== null; box = box.parentElement?.closest("details") ?? null) {
    box.open = true;
  }
  const { dataset } = document.documentElement;
  if (element.closest(".controls") !== null) dataset.rail = "open";
  // On a phone the controls lie over an open panel.
  if (element.closest(".drawer") !== null && !element.checkVisibility()) dataset.rail = "folded";
  const hidden = element.matches("button") && !element.checkVisibility();
  if (hidden || (opens && element.getAttribute("aria-pressed") === "false")) element.click();
  element.scrollIntoView({ block: "center" });
  element.focus();
}

/** The text of a label without that of the control inside of it. */
function ownText(label: HTMLElement | null): string {
  const texts = [...(label?.childNodes ?? [])].filter(
    (node) => !(node instanceof HTMLSelectElement) && !(node instanceof Comment),
  );
  return texts.map((node) => node.textContent ?? "").join(" ");
}

/** All whose name or words have every word of a text: those that begin with it first, those found by words last. */
export function matching(controls: readonly FoundControl[], text: string): FoundControl[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = controls.filter(({ name, words: more }) =>
    words.every((word) => `${name} ${more}`.toLowerCase().includes(word)),
  );
  const rank = ({ name, late = false }: FoundControl) => {
    const at = name.toLowerCase().indexOf(words[0] ?? "");
    return (at < 0 ? 2 : Math.min(at, 1)) + (late ? 0.5 : 0);
  };
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, MOST);
}

/** The words by which a control was found that are not in its name. */
function why({ name, words }: FoundControl, text: string): TemplateResult | typeof nothing {
  const typed = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "" && !name.toLowerCase().includes(word));
  const found = words.split(/\s+/).filter((word) => typed.some((part) => word.toLowerCase().includes(part)));
  return found.length === 0 ? nothing : html` <small class="note">${found.join(", ")}</small>`;
}

export class Palette {
  readonly #root: HTMLElement;
  readonly #more: () => readonly FoundControl[];
  readonly #dialog = document.createElement("dialog");
  #controls: readonly FoundControl[] = [];
  #text = "";

  /** @param more further places, which have no control while their panel is closed */
  constructor(root: HTMLElement, more: () => readonly FoundControl[]) {
    this.#root = root;
    this.#more = more;
    this.#dialog.id = "palette";
    document.body.append(this.#dialog);
    this.#dialog.addEventListener("click", (event) => {
      if (event.target === this.#dialog) this.#dialog.close();
    });
    this.#dialog.addEventListener("keydown", (event) => this.#move(event));
  }

  /** Opens the search for a control. */
  find(): void {
    this.#controls = [...controlsOf(this.#root), ...this.#more()];
    this.#text = "";
    this.#dialog.setAttribute("aria-label", "Find a control");
    this.#show();
  }

  /** Opens the list of keys and gestures. */
  help(): void {
    this.#dialog.setAttribute("aria-label", "Keys and gestures");
    render(
      html`
        <h2>Keys and gestures</h2>
        <dl class="keys">${GESTURES.map(([keys, text]) => html`<div><dt>${keys}</dt><dd>${text}</dd></div>`)}</dl>
        <form method="dialog"><button>Close</button></form>
      `,
      this.#dialog,
    );
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  /** Moves the focus through text and list by the arrow keys. */
  #move(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const stops = [...this.#dialog.querySelectorAll<HTMLElement>("#palette-text, li button")];
    const at = stops.indexOf(document.activeElement as HTMLElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    stops[Math.max(0, Math.min(stops.length - 1, at + step))]?.focus();
  }

  #show(): void {
    render(this.#view(), this.#dialog);
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#dialog.querySelector("input")?.focus();
  }

  #view(): TemplateResult {
    const found = matching(this.#controls, this.#text);
    return html`
      <form
        method="dialog"
        @submit=${(event: Event) => {
          event.preventDefault();
          this.#go(found[0]);
        }}
      >
        <label for="palette-text">
          Find a control
          <input
            id="palette-text"
            autocomplete="off"
            .value=${this.#text}
            @input=${(event: Event) => {
              this.#text = (event.target as HTMLInputElement).value;
              this.#show();
            }}
          />
        </label>
      </form>
      <ul>
        ${repeat(
          found,
          (one) => one,
          (one) =>
            html`<li><button type="button" class="link" @click=${() => this.#go(one)}>${one.name}</button>${why(one, this.#text)}</li>`,
        )}
      </ul>
      ${found.length === 0 ? html`<p class="note" role="status">No control has this name.</p>` : nothing}
    `;
  }

  #go(found: FoundControl | undefined): void {
    this.#dialog.close();
    found?.go();
  }
}
