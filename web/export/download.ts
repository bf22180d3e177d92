/** Downloads: files that the page makes, and answers for which a link would need the token. */
import { say } from "../notify.js";
import { hasToken, jsonOf, type Question, refusalFrom, requireManifest, rootOf, send } from "../state/ask.js";

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

async function request(path: string, init: RequestInit, name: string): Promise<void> {
  save(await (await send(path, init)).blob(), name);
}

export const report = (error: unknown): void => say(refusalFrom(error).message);

async function requireSame(dataset: string): Promise<void> {
  const answer = await send(`api/datasets/${encodeURIComponent(dataset)}`);
  requireManifest({ dataset, call: "" }, ((await answer.json()) as { digest: string }).digest);
}

export function saveAnswer(question: Question, name: string): void {
  requireSame(question.dataset)
    .then(() => request("api/ask", jsonOf(question), name))
    .catch(report);
}

/** Saves what a download link leads to, by a request with the token if there is one; not of data that were replaced. */
export function download(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[download]") : null;
  if (link === null || !link.href.startsWith(rootOf())) return;
  const { href } = link;
  const named = link.download || nameOf(new URL(href));
  const [, name] = /\/api\/datasets\/([^/]+)\//.exec(href) ?? [];
  if (name === undefined && !hasToken()) return;
  event.preventDefault();
  const follow = () =>
    hasToken()
      ? request(href, {}, named)
      : Object.assign(document.createElement("a"), { href, download: named }).click();
  (name === undefined ? Promise.resolve() : requireSame(decodeURIComponent(name))).then(follow).catch(report);
}
