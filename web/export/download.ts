/** Downloads: files that the page makes, and answers for which a link would need the token. */
import { say } from "../notify.js";
import { hasToken, jsonOf, type Question, rootOf, send } from "../state/ask.js";

export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function nameOf({ pathname, searchParams }: URL): string {
  const parts = pathname.split("/").slice(-2).map(decodeURIComponent);
  return `${parts.join("-")}.${searchParams.get("format") ?? "json"}`;
}

function request(path: string, init: RequestInit, name: string): void {
  send(path, init, new AbortController().signal)
    .then((response) => response.blob())
    .then((blob) => save(blob, name))
    .catch((error: unknown) => say(error instanceof Error ? error.message : String(error)));
}

/** Saves the answer of a question that may be too long for an address. */
export function saveAnswer(question: Question, name: string): void {
  request("api/ask", jsonOf(question), name);
}

/** Turns a click on a download link into a request with the token, if there is one. */
export function downloadWithToken(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[download]") : null;
  if (link === null || !hasToken() || !link.href.startsWith(rootOf())) return;
  event.preventDefault();
  request(link.href, {}, link.download || nameOf(new URL(link.href)));
}
