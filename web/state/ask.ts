/** The store of answers by question and manifest. The page shows nothing else: no answer stands for another question. */
import { type Signal, signal } from "@preact/signals-core";
import { requireOne } from "./format.js";

export interface Question {
  readonly dataset: string;
  readonly call: string;
  readonly [member: string]: unknown;
}

export interface Rows {
  readonly columns: readonly { readonly name: string; readonly unit?: string }[];
  readonly rows: readonly (readonly (number | null)[])[];
}

/** An error answer of the service; status 0 if there was no answer. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** An error as a refusal; those of the page itself have no status. */
export const refusalFrom = (error: unknown): Refusal =>
  error instanceof Refusal ? error : new Refusal(0, String(error).replace(/^\w*Error: /, ""));

export interface Entry<T> {
  readonly answer: T | null;
  readonly error: Refusal | null;
  readonly isPending: boolean;
}

const IDLE: Entry<never> = { answer: null, error: null, isPending: false };

/** Address of the root of the service, with a slash at its end: the page is at the root or at `view/NAME` below it. */
export const rootOf = () => new URL(/\/view\/[^/]*$/.test(location.pathname) ? "../" : "./", location.href).href;

const RETRIES = 6;
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 30_000;

const waiting = new Map<symbol, string>();
/** Why a request waits until it is sent again: the reason of the first that waits, or null. */
export const delay = signal<string | null>(null);
function setDelay(request: symbol, reason: string | null): void {
  if (reason === null) waiting.delete(request);
  else waiting.set(request, reason);
  delay.value = waiting.values().next().value ?? null;
}

let token = "";
export function setToken(text: string): void {
  token = text;
}

export const hasToken = (): boolean => token !== "";

export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

const FOREIGN = "A server in between has answered in place of the service.";

const never = new AbortController().signal;

/** Sends a request; retries while the service is unreachable or busy. Throws Refusal. */
export async function send(path: string, init: RequestInit = {}, signal = never): Promise<Response> {
  const request = Symbol(path);
  try {
    for (let attempt = 0; ; attempt++) {
      const headers = new Headers(init.headers);
      if (token !== "") headers.set("authorization", `Bearer ${token}`);
      const response = await fetch(new URL(path, rootOf()), { ...init, headers, signal }).catch((error: unknown) => {
        if (signal.aborted) throw error;
        return null;
      });
      if (response?.ok && response.headers.get("content-type")?.startsWith("text/html")) throw new Refusal(0, FOREIGN);
      if (response?.ok) return response;
      const problem = (await response?.json().catch(() => ({}))) as { detail?: string } | undefined;
      const detail = problem?.detail ?? response?.statusText ?? "The service cannot be reached.";
      const isBusy = response?.status === 429 || response?.status === 503;
      if (response !== null && !(isBusy && attempt < RETRIES)) throw new Refusal(response.status, detail);
      setDelay(request, detail);
      const after = Number(response?.headers.get("retry-after") ?? 0) * 1000;
      await pause(Math.min(LONGEST_WAIT_MS, Math.max(after, FIRST_WAIT_MS * 2 ** attempt)), signal);
    }
  } finally {
    setDelay(request, null);
  }
}

export function jsonOf(body: unknown, method = "POST"): RequestInit {
  return { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

/** A member as a text: lists with commas, points with semicolons, objects as JSON. */
export function textOf(value: unknown): string {
  if (!Array.isArray(value)) return typeof value === "object" ? JSON.stringify(value) : String(value);
  if (value.every((one) => typeof one !== "object")) return value.join(",");
  const areRows = value.every((one) => Array.isArray(one) && one.every((n) => typeof n === "number"));
  return areRows ? value.map((one) => (one as number[]).join(",")).join(";") : JSON.stringify(value);
}

export function addressOf({ dataset, call, ...members }: Question): string {
  const query = new URLSearchParams(Object.entries(members).map(([name, value]) => [name, textOf(value)]));
  return `api/datasets/${encodeURIComponent(dataset)}/${call}?${query}`;
}

/** Manifests of datasets as they were when the page read their descriptions, by name. */
export const manifests = new Map<string, string>();
/** Says that a dataset is another than the one described: what is shown is old until the page is loaded again. */
export const replaced = signal("");
/** Throws Refusal for an answer of another version of its dataset than the one described, or of none. */
export function requireManifest({ dataset }: Question, manifest: unknown): void {
  if (typeof manifest !== "string") throw new Refusal(0, FOREIGN);
  if (manifest === manifests.get(dataset)) return;
  replaced.value = `${dataset} was replaced by other data. Reload the page to see them.`;
  throw new Refusal(409, replaced.value);
}

/** Numbers of one quantity with their unit; null if their dataset states none. */
export interface Numbers {
  readonly data: Float32Array;
  readonly unit: string | null;
}

/** The `count` numbers of a question for one quantity, of a grid or at points, three numbers each. Throws Refusal. */
export async function askNumbers(question: Question, count: number, signal: AbortSignal, points?: BufferSource) {
  const headers = { "content-type": "application/octet-stream" };
  const init = points === undefined ? {} : { method: "POST", body: points, headers };
  const response = await send(addressOf({ ...question, format: "f32" }), init, signal);
  requireManifest(question, response.headers.get("fieldprobe-manifest"));
  requireOne((JSON.parse(response.headers.get("fieldprobe-columns") ?? "[]") as unknown[]).length);
  const unit = decodeURIComponent(response.headers.get("fieldprobe-unit") ?? "") || null;
  const bytes = await response.arrayBuffer();
  const arrived = bytes.byteLength / 4;
  if (arrived !== count) throw new Refusal(0, `An answer has ${Math.floor(arrived)} numbers, not ${count}.`);
  return { data: new Float32Array(bytes), unit };
}

const MAX_POINTS = 200_000;

/** Values of a quantity at points, three numbers each, asked in parts. */
export async function askAtPoints(question: Question, points: Float32Array): Promise<Float32Array> {
  const values = new Float32Array(points.length / 3);
  for (let from = 0; from < values.length; from += MAX_POINTS) {
    const part = points.slice(3 * from, 3 * (from + MAX_POINTS));
    values.set((await askNumbers(question, part.length / 3, never, part)).data, from);
  }
  return values;
}

export async function askJson<T>(question: Question | readonly Question[], signal: AbortSignal): Promise<T> {
  const answer: unknown = await (await send("api/ask", jsonOf(question), signal)).json();
  const answers = Array.isArray(question) ? (answer as unknown[]) : [answer];
  for (const [i, one] of [question].flat().entries()) {
    const { manifest, problem } = answers[i] as { manifest?: string; problem?: object };
    if (problem === undefined) requireManifest(one, manifest);
  }
  return answer as T;
}

interface Kept {
  readonly state: Signal<Entry<unknown>>;
  controller: AbortController | null;
  /** Count of calls of `want` at the last one that wanted it. */
  wanted: number;
  bytes: number;
}

export interface Shared {
  readonly title: string;
  readonly question: Question;
}

/** Something that the page wants from the service. */
export interface Wanted<T = unknown> {
  readonly key: string;
  readonly load: (signal: AbortSignal) => Promise<T>;
  /** Order of requests: the smallest first. */
  readonly priority: number;
  /** Whether the request continues although nothing wants it any more. */
  readonly lasting?: boolean;
  readonly shared?: readonly Shared[];
  sizeOf?(answer: T): number;
}

const IN_FLIGHT = 4;
const AHEAD_IN_FLIGHT = 2;
/** Priority from which on answers are prefetched. */
export const AHEAD = 30;

/** Entries of answers by key, with requests for the answers that are wanted. */
export class Store {
  readonly #entries = new Map<string, Kept>();
  readonly #limit: number;
  #bytes = 0;
  #turn = 0;
  #flying = 0;
  #isMoving = false;
  #wanted: readonly Wanted[] = [];

  /** @param limit bytes of answers that are cached */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The entry of a key, empty if it was never wanted; subscribes the caller. */
  entry<T>(key: string): Entry<T> {
    return this.#kept(key).state.value as Entry<T>;
  }

  /** Whether requests other than prefetches are open or waiting. */
  get isBusy(): boolean {
    return this.#wanted.some(({ key, priority }) => {
      const { answer, error } = this.#kept(key).state.peek();
      return priority < AHEAD && answer === null && error === null;
    });
  }

  /**
   * Sets everything that is wanted now: other requests are aborted, missing answers are requested in order. @param
   * isMoving whether the wants will change in a moment, until when nothing is prefetched
   */
  want(wanted: readonly Wanted[], isMoving = false): void {
    this.#turn++;
    this.#isMoving = isMoving;
    this.#wanted = wanted.toSorted((a, b) => a.priority - b.priority);
    for (const { key } of this.#wanted) this.#kept(key).wanted = this.#turn;
    const lasting = new Set(this.#wanted.filter((one) => one.lasting).map(({ key }) => key));
    for (const [key, kept] of this.#entries) {
      if (kept.wanted < this.#turn && kept.controller !== null && !lasting.has(key)) kept.controller.abort();
    }
    this.#start();
  }

  /** Asks again for an answer that was refused, and for all others that were refused with its status. */
  retry(key: string): void {
    const status = this.#kept(key).state.peek().error?.status ?? null;
    for (const { state } of this.#entries.values())
      if (status !== null && state.peek().error?.status === status) state.value = IDLE;
    this.#start();
  }

  #kept(key: string): Kept {
    let kept = this.#entries.get(key);
    if (kept === undefined) {
      kept = { state: signal<Entry<unknown>>(IDLE), controller: null, wanted: 0, bytes: 0 };
      this.#entries.set(key, kept);
    }
    return kept;
  }

  #start(): void {
    for (const one of this.#wanted) {
      // Prefetches wait until all answers that are shown have arrived.
      const isAhead = one.priority >= AHEAD;
      if (this.#flying >= (isAhead ? AHEAD_IN_FLIGHT : IN_FLIGHT) || (isAhead && (this.#isMoving || this.isBusy)))
        return;
      const kept = this.#kept(one.key);
      const { answer, error, isPending } = kept.state.peek();
      if (answer === null && error === null && !isPending) void this.#load(one, kept);
    }
  }

  async #load(one: Wanted, kept: Kept): Promise<void> {
    const controller = new AbortController();
    kept.controller = controller;
    this.#flying++;
    kept.state.value = { answer: null, error: null, isPending: true };
    try {
      const answer = await one.load(controller.signal);
      kept.bytes = one.sizeOf?.(answer) ?? 0;
      this.#bytes += kept.bytes;
      kept.state.value = { answer, error: null, isPending: false };
      this.#evict();
    } catch (error) {
      if (controller.signal.aborted) kept.state.value = IDLE;
      else kept.state.value = { answer: null, error: refusalFrom(error), isPending: false };
    } finally {
      kept.controller = null;
      this.#flying--;
      this.#start();
    }
  }

  #evict(): void {
    if (this.#bytes <= this.#limit) return;
    const old = [...this.#entries].filter(([, { wanted, bytes }]) => wanted < this.#turn && bytes > 0);
    for (const [key, { bytes }] of old.toSorted(([, a], [, b]) => a.wanted - b.wanted)) {
      if (this.#bytes <= this.#limit) return;
      this.#bytes -= bytes;
      this.#entries.delete(key);
    }
  }
}
