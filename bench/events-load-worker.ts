/** Load thread: some connections that each ask for one path again and again, read with as little work as possible. */
import { connect } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

export interface Load {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  readonly milliseconds: number;
}

const { port, path, connections, milliseconds } = workerData as Load;
const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
let answered = 0;

/** Asks until `until`; an answer's end is found by its Content-Length. */
function ask(until: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    let head = "";
    let missing = -1;
    socket.on("error", reject);
    socket.on("data", (part) => {
      if (missing < 0) {
        head += part.toString("latin1");
        const end = head.indexOf("\r\n\r\n");
        if (end < 0) return;
        if (!head.startsWith("HTTP/1.1 200")) reject(new Error(head.slice(0, 200)));
        missing = Number(/content-length: (\d+)/i.exec(head)?.[1]) - (head.length - end - 4);
      } else {
        missing -= part.length;
      }
      if (missing > 0) return;
      answered += 1;
      head = "";
      missing = -1;
      if (performance.now() < until) socket.write(request);
      else socket.end(() => resolve());
    });
  });
}

const start = performance.now();
await Promise.all(Array.from({ length: connections }, () => ask(start + milliseconds)));
parentPort?.postMessage((answered * 1000) / (performance.now() - start));
