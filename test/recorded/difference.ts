/** How far two answers differ: in what is not a number, or in their numbers by units in the last place. */
export interface RecordedAnswer {
  readonly name: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Text that differs between two runs of one build. */
const OWN =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|http:\/\/127\.0\.0\.1:\d+|\d+\.\d+\.\d+-?[0-9a-f]*(?= \(build)/g;
const NUMBER = /-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/g;

/** Distance of two numbers in float32 numbers between them. */
function steps(a: number, b: number): number {
  if (Object.is(a, b) || a === b || (Number.isNaN(a) && Number.isNaN(b))) return 0;
  if (!Number.isFinite(a) || !Number.isFinite(b)) return Infinity;
  const words = new Int32Array(new Float32Array([a, b]).buffer);
  const [first, second] = [...words].map((word) => (word < 0 ? -2147483648 - word : word)) as [number, number];
  return Math.max(1, Math.abs(first - second));
}

const isOctets = ({ headers }: RecordedAnswer) => /octet-stream|npy/.test(headers["content-type"] ?? "");

/**
 * The largest difference of two answers in float32 numbers: 0 if they are the same bytes apart from ids and addresses,
 * infinite if anything but a number differs.
 */
export function difference(before: RecordedAnswer, after: RecordedAnswer): number {
  if (before.status !== after.status) return Infinity;
  for (const name of new Set([...Object.keys(before.headers), ...Object.keys(after.headers)])) {
    if (!/^(content-length|etag)$/.test(name) && before.headers[name] !== after.headers[name]) return Infinity;
  }
  const [a, b] = [before, after].map(({ body }) => Buffer.from(body, "base64")) as [Buffer, Buffer];
  if (a.equals(b)) return 0;
  if (isOctets(before)) {
    const start = a.length % 4 === 0 && a.toString("latin1", 1, 6) === "NUMPY" ? 10 + a.readUInt16LE(8) : 0;
    if (a.length !== b.length || !a.subarray(0, start).equals(b.subarray(0, start))) return Infinity;
    let most = 0;
    for (let at = start; at + 4 <= a.length; at += 4)
      most = Math.max(most, steps(a.readFloatLE(at), b.readFloatLE(at)));
    return most;
  }
  const [textA, textB] = [a, b].map((bytes) => bytes.toString("latin1").replace(OWN, "")) as [string, string];
  if (textA === textB) return 0;
  if (textA.replace(NUMBER, "") !== textB.replace(NUMBER, "")) return Infinity;
  const numbersB = textB.match(NUMBER) ?? [];
  return Math.max(...(textA.match(NUMBER) ?? []).map((text, i) => steps(Number(text), Number(numbersB[i]))));
}
