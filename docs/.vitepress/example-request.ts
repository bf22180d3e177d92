/** Turns an example of a page, a `curl` command, into the request that a browser makes. */

/** Where the examples' own address is, which stands for "the service". */
const EXAMPLE = /^https?:\/\/(127\.0\.0\.1|localhost):8080/;
/** Options of curl without a value that change nothing here. */
const QUIET = new Set(["-s", "-S", "-sS", "--silent", "--fail", "-f"]);

/** The words of a command as a shell reads them: quotes, and lines that continue. Null if it is more than one command. */
export function wordsOf(command: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < command.length; at++) {
    const c = command[at] as string;
    if (c === "'" || c === '"') {
      const end = command.indexOf(c, at + 1);
      if (end < 0) return null;
      word = (word ?? "") + command.slice(at + 1, end);
      at = end;
    } else if (c === "\\" && command[at + 1] === "\n") {
      at++;
    } else if (/\s/.test(c)) {
      if (c === "\n" && command.slice(at).trim() !== "") return null;
      if (word !== null) words.push(word);
      word = null;
    } else if ("|;&<>$`".includes(c)) {
      return null;
    } else {
      word = (word ?? "") + c;
    }
  }
  if (word !== null) words.push(word);
  return words;
}

/** A request for `fetch`, its path below the address of the service. */
export interface ExampleRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** The request that a `curl` command makes, as its path, method, headers and body; null if it is anything else. */
export function requestOf(command: string): ExampleRequest | null {
  const words = wordsOf(command.trim());
  if (words?.[0] !== "curl") return null;
  const headers: Record<string, string> = {};
  let url: string | null = null;
  let method: string | null = null;
  let body: string | null = null;
  let isQuery = false;
  const encoded: string[] = [];
  for (let at = 1; at < words.length; at++) {
    const word = words[at] as string;
    if (word === "-H" || word === "--header") {
      const [, name, value] = /^([^:]+):\s*(.*)$/.exec(words[++at] ?? "") ?? [];
      if (name === undefined || value === undefined) return null;
      headers[name.toLowerCase()] = value;
    } else if (word === "-d" || word === "--data") {
      body = words[++at] ?? null;
      if (body === null || body.startsWith("@")) return null;
    } else if (word === "--data-urlencode") {
      const [, name, value] = /^([\w.]+)=([\s\S]*)$/.exec(words[++at] ?? "") ?? [];
      if (name === undefined || value === undefined) return null;
      encoded.push(`${name}=${encodeURIComponent(value)}`);
    } else if (word === "-G" || word === "-sG" || word === "--get") {
      isQuery = true;
    } else if (word === "-X" || word === "--request") {
      method = words[++at] ?? null;
    } else if (EXAMPLE.test(word) && url === null) {
      url = word.replace(EXAMPLE, "");
    } else if (!QUIET.has(word)) {
      return null;
    }
  }
  if (url === null || (encoded.length > 0 && (!isQuery || url.includes("?")))) return null;
  if (encoded.length > 0) url += `?${encoded.join("&")}`;
  if (body !== null) headers["content-type"] ??= "application/x-www-form-urlencoded";
  return { url: url === "" ? "/" : url, method: method ?? (body === null ? "GET" : "POST"), headers, body };
}

/** The address of the service: the page's own if a service serves it below `docs/`, otherwise a local one. */
export function serviceOf({ origin, pathname }: { readonly origin: string; readonly pathname: string }): string {
  const at = pathname.indexOf("/docs/");
  return at < 0 || /:(4173|5173)$/.test(origin) ? "http://127.0.0.1:8080" : origin + pathname.slice(0, at);
}
