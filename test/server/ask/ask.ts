/** Asks questions of a running service, and reads what it answers. */
import type { RunningService } from "../../../src/main.js";

export type Members = Readonly<Record<string, unknown>>;

// biome-ignore lint/suspicious/noExplicitAny: answers of every call, which tests look into.
export type AnyAnswer = any;

export function get(
  service: RunningService,
  dataset: string,
  call: string,
  members: Members,
  accept = "application/json",
): Promise<Response> {
  const texts = Object.entries(members).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const query = new URLSearchParams(texts as [string, string][]);
  return fetch(`${service.url}/api/datasets/${dataset}/${call}?${query}`, { headers: { accept } });
}

export function ask(
  service: Pick<RunningService, "url">,
  question: unknown,
  accept = "application/json",
): Promise<Response> {
  const headers = { "content-type": "application/json", accept };
  return fetch(`${service.url}/api/ask`, { method: "POST", headers, body: JSON.stringify(question) });
}

/** The JSON of an answer. @throws Error with the problem */
export async function jsonOf(response: Response): Promise<AnyAnswer> {
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text);
}
