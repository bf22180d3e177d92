/** Questions of the long runs, and what makes two answers to one of them the same. */
import { createHash } from "node:crypto";

/** A request, and whether the files of its dataset may be changed under it. */
export interface Question {
  readonly name: string;
  readonly path: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
  readonly changed: boolean;
}

export interface Answer {
  readonly status: number;
  readonly digest: string;
  readonly text: string;
}

export function coordinates(count: number): [number, number, number][] {
  return Array.from({ length: count }, (_, i) => [(i * 0.37) % 6.2, (i * 0.73 + 1) % 6.2, (i * 1.13 + 2) % 6.2]);
}

export function api(path: string, accept: string, points: number): Question {
  const body = JSON.stringify({ points: coordinates(points) });
  const headers = { "content-type": "application/json", accept };
  return { name: `${path} ${accept}`, path: `/api/${path}`, method: "POST", headers, body, changed: false };
}

export function page(path: string, accept = "*/*"): Question {
  return { name: path, path, method: "GET", headers: { accept }, body: null, changed: false };
}

export async function ask(
  url: string,
  { path, method, headers, body }: Question,
  signal: AbortSignal | null = null,
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { method, headers, body: body as BodyInit | null, signal });
  const bytes = Buffer.from(await response.arrayBuffer());
  // Addresses and ids differ between two processes.
  const plain = bytes.includes(url) ? Buffer.from(bytes.toString("latin1").replaceAll(url, "URL"), "latin1") : bytes;
  return {
    status: response.status,
    digest: createHash("sha256").update(plain).digest("hex"),
    text: bytes.toString("latin1", 0, 2000),
  };
}
