/** Files that are saved: what the page made, and what links name where the service wants a token, which links cannot carry. */
import { say } from "../notify.js";
import { hasToken, rootOf, send } from "../state/ask.js";

/** Saves bytes as a file. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The name of a file of an answer: its dataset, its call and its form. */
function nameOf({ pathname, searchParams }: URL): string {
  const parts = pathname.split("/").slice(-2).map(decodeURIComponent);
  return `${parts.join("-")}.${searchParams.get("format") ?? "json"}`;
}

/** Asks with the token for what a link downloads, if there is a token. */
export function downloadWithToken(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[download]") : null;
  if (link === null || !hasToken() || !link.href.startsWith(rootOf())) return;
  event.preventDefault();
  const name = link.download || nameOf(new URL(link.href));
  send(link.href, {}, new AbortController().signal)
    .then((response) => response.blob())
    .then((blob) => save(blob, name))
    .catch((error: unknown) => say(error instanceof Error ? error.message : String(error)));
}
