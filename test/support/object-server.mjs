/**
 * Serves objects over HTTP in a thread, with ranges, times and faults; its test sleeps while it waits for an answer.
 */
import { createServer } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

const { counts } = workerData;
/** Objects by path: bytes and time of change. */
const objects = new Map();
/** Faults to come, and the pause before each answer. */
let state = {
  failures: 0,
  retryAfter: null,
  cuts: 0,
  pauseMs: 0,
  silent: false,
  ranges: true,
  redirect: null,
  lists: false,
  times: true,
  laterMs: 0,
  weak: false,
};

parentPort.on("message", ({ put, laterMs = 0, tag, remove, set }) => {
  for (const [path, bytes] of Object.entries(put ?? {}))
    objects.set(path, { bytes: Buffer.from(bytes), time: Date.now() + laterMs, tag });
  if (remove !== undefined) objects.delete(remove);
  state = { ...state, ...set };
  parentPort.postMessage("done");
});

const server = createServer((request, response) => {
  Atomics.add(counts, 0, 1);
  if (state.silent) return;
  setTimeout(() => answer(request, response), state.pauseMs);
});

function answer(request, response) {
  if (state.redirect !== null) return void response.writeHead(302, { location: state.redirect }).end();
  if (state.failures > 0) {
    state.failures--;
    const { retryAfter } = state;
    return void response.writeHead(503, retryAfter === null ? {} : { "retry-after": retryAfter }).end();
  }
  const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  if (state.lists && path.endsWith("/")) return list(path, response);
  const object = objects.get(path);
  if (object === undefined) return void response.writeHead(404).end();
  const { bytes, time, tag } = object;
  if (state.laterMs > 0) response.setHeader("date", new Date(Date.now() + state.laterMs).toUTCString());
  const modified = state.times ? { "last-modified": new Date(time).toUTCString() } : {};
  const headers = { etag: state.weak ? 'W/"same"' : (tag ?? `"${bytes.length}-${time}"`), ...modified };
  const [, first, last, suffix] = /^bytes=(?:(\d+)-(\d+)|-(\d+))$/.exec(request.headers.range ?? "") ?? [];
  const start = suffix === undefined ? Number(first ?? 0) : Math.max(0, bytes.length - Number(suffix));
  const end = last === undefined ? bytes.length : Math.min(bytes.length, Number(last) + 1);
  const isPart = request.headers.range !== undefined && state.ranges;
  const body = isPart ? bytes.subarray(start, end) : bytes;
  response.writeHead(isPart ? 206 : 200, {
    ...headers,
    "content-length": body.length,
    ...(isPart ? { "content-range": `bytes ${start}-${end - 1}/${bytes.length}` } : {}),
  });
  if (state.cuts > 0) {
    state.cuts--;
    response.write(body.subarray(0, body.length >> 1));
    return void setTimeout(() => response.destroy(), 10);
  }
  response.end(body);
}

/** Answers with a page of links, as nginx writes it. Like nginx, it leaves out names that begin with a dot. */
function list(folder, response) {
  const below = [...objects.keys()].filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length));
  const names = new Set(below.map((path) => path.replace(/\/.*/, "/")).filter((name) => !name.startsWith(".")));
  if (names.size === 0) return void response.writeHead(404).end();
  const links = [...names].map((name) => `<a href="${encodeURI(name)}">${name}</a> 22-Nov-2026 10:00 5`);
  const page = `<html><head><title>Index of ${folder}</title></head><body><h1>Index of ${folder}</h1><hr><pre><a href="../">../</a>`;
  response.writeHead(200, { "content-type": "text/html" }).end(`${page}\n${links.join("\n")}</pre><hr></body></html>`);
}

server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
