/** Short messages, and the clipboard. */
import { signal } from "@preact/signals-core";
import { setting } from "./controls.js";

export const message = signal("");
let timer = 0;

export function say(text: string): void {
  message.value = text;
  clearTimeout(timer);
  timer = window.setTimeout(setting(message, ""), 4000);
}

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    say("The browser refused to copy");
  }
}
