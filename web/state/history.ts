/** History of the acts of the user, as entries of the browser: each has its number, and the kind of act that it is of. */

/** A choice, or an act that goes on: entries of it are one while no other act comes between. */
export type Act = "choice" | "place" | "time" | "view";

interface State {
  readonly depth: number;
  readonly act: Act | null;
  /** The manifest of what was shown, and the quantities whose ranges the page chose; absent in a link just opened. */
  readonly manifest?: string;
  readonly usual?: readonly string[];
}
export const stateNow = (): State => (history.state as State | null) ?? { depth: 0, act: null };

let newest = 0;
/** The time until which another entry is awaited: browsers drop the oldest of many, and then show none. */
let turningUntil = 0;

/** Makes an address that of the last entry, or of a new one for another act. */
export function saveAddress(address: string, act: Act | null, about: Pick<State, "manifest" | "usual">): void {
  const last = stateNow();
  const goesOn = act === null || (act === last.act && act !== "choice");
  if (goesOn || new URL(address).href === location.href) history.replaceState({ ...last, ...about }, "", address);
  else {
    newest = last.depth + 1;
    history.pushState({ depth: newest, act, ...about }, "", address);
  }
}

/** Takes the last act back, or again; does nothing where there is none, so that the page is not left. */
export function turnBack(by: -1 | 1): void {
  const { depth } = stateNow();
  if (performance.now() < turningUntil || depth + by < 0 || depth + by > Math.max(newest, depth)) return;
  turningUntil = performance.now() + 1000;
  history.go(by);
}

/** Another entry is shown, in which the next act begins a new one. */
export function turned(): void {
  const now = stateNow();
  turningUntil = 0;
  newest = Math.max(newest, now.depth);
  history.replaceState({ ...now, act: null }, "");
}
