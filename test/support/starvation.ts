/**
 * Scripts of callers who take all they can from a service, over real sockets, and a witness who asks small questions
 * meanwhile.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { type Program, startProgram } from "./program.js";
import { rawPost } from "./raw-http.js";
import { scratchFolder } from "./scratch.js";
import { envelope, expectIdle, getVelocity, items, NAMESPACE, nullOp, PATH } from "./soap-service.js";

type Bytes = string | Buffer;

/** Callers who have begun; `answered` counts whole answers, also refusals. */
export interface Crowd {
  readonly answered: number;
  /** Answers that have begun, by status; only if they are read. */
  readonly statuses: Readonly<Record<string, number>>;
  leave(): void;
}

export interface Witnessed {
  readonly asked: number;
  /** Answers that were not the expected ones, by status or bits; the first of them. */
  readonly wrong: number;
  readonly first: string;
  readonly refused: number;
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
  /** The largest CPU time of a thread of the service during a question, in milliseconds; 0 without `pid`. */
  readonly cpuMedian: number;
  readonly cpuP99: number;
  /** The same of its main thread. */
  readonly mainMedian: number;
  readonly mainP99: number;
  /** Processors that the service kept busy meanwhile, and the most memory that it held. */
  readonly load: number;
  readonly peakMiB: number;
}

/** Requests, whether answers are read, and whether each is sent again when it is answered. */
type CrowdOptions = [requests: readonly Bytes[], reads: boolean, again?: boolean];

const SHIPPED = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
const WITNESS = fileURLToPath(new URL("witness.mjs", import.meta.url));
const QUESTION = envelope("1.1", getVelocity({ points: items([[1, 2, 3]]) }));

/** Asks small questions, so many or for so long, in a process of its own (`witness.mjs`). */
export async function witness(
  port: number,
  end: { readonly questions: number } | { readonly ms: number },
  pauseMs = 0,
  pid?: number,
): Promise<Witnessed> {
  const given = JSON.stringify({ port, path: PATH, question: QUESTION, pauseMs, pid, ...end });
  const child = spawn(process.execPath, [WITNESS, given], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (text: Buffer) => {
    said += text.toString();
  });
  await once(child, "close");
  return JSON.parse(said) as Witnessed;
}

/** Callers who send and read; each sends its request again when it is answered, if `again`. */
export async function crowd(port: number, ...[requests, reads, again = false]: CrowdOptions): Promise<Crowd> {
  let answered = 0;
  let left = false;
  const statuses: Record<string, number> = {};
  const sockets = new Set<Socket>();
  const join = async (bytes: Bytes): Promise<void> => {
    if (left) return;
    const socket = connect({ port, host: "127.0.0.1" });
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      sockets.delete(socket);
      answered++;
      if (again) setTimeout(() => void join(bytes), 20);
    });
    await once(socket, "connect").catch(() => undefined);
    const begun = (piece: Buffer): void => {
      const status = piece.toString("latin1", 9, 12);
      statuses[status] = (statuses[status] ?? 0) + 1;
    };
    if (reads) socket.once("data", begun).resume();
    else socket.pause();
    socket.write(bytes);
  };
  await Promise.all(requests.map(join));
  return {
    get answered() {
      return answered;
    },
    statuses,
    leave() {
      left = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The program as it ships with the shipped data, for the tests of a file. */
export interface Attacked {
  readonly program: Program;
  /** Lets callers begin; they leave after the test, and nothing of them may remain. */
  attack(...crowd: CrowdOptions): Promise<Crowd>;
}

/** Starts a program for the tests of a file, which attack it by one crowd each, and stops it behind them. */
export function useAttacked(settings: Readonly<Record<string, string>> = {}): Attacked {
  const common = { DATA: SHIPPED, STATE: scratchFolder(), EVENTS: "off", LOG_LEVEL: "error" };
  let program: Program;
  let attackers: Crowd | null = null;
  beforeAll(async () => {
    program = await startProgram({ ...common, ...settings });
    await witness(program.port, { questions: 5 });
  }, 60_000);
  afterEach(async () => {
    attackers?.leave();
    await vi.waitFor(() => expectIdle({ url: `${program.url}${PATH}` }), { timeout: 60_000 });
  }, 90_000);
  afterAll(() => program.stop("SIGTERM"));
  return {
    get program() {
      return program;
    },
    async attack(...given) {
      attackers?.leave();
      attackers = await crowd(program.port, ...given);
      return attackers;
    },
  };
}

const repeat = (count: number, bytes: Bytes): Bytes[] => Array<Bytes>(count).fill(bytes);
const soap = (body: string): string => rawPost("1.1", envelope("1.1", body), ["Connection: close"]);

function operation(name: string, members: Readonly<Record<string, string | number>>): string {
  const text = Object.entries(members).map(([member, value]) => `<${member}>${value}</${member}>`);
  return `<${name} xmlns="${NAMESPACE}"><dataset>isotropic32</dataset>${text.join("")}</${name}>`;
}

function spread(count: number): string {
  return items(Array.from({ length: count }, (_, i) => [(i % 977) / 156, (i % 491) / 79, (i % 251) / 41]));
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;

function octets(path: string, body: Buffer): Buffer {
  const type = "application/octet-stream";
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: ${type}\r\nAccept: ${type}\r\n`;
  return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** A connection with a request that is read slowly and small ones behind it. */
export function pipelined(connections: number, behind: number, points: number): Bytes[] {
  const unusual = `<Point3><x>1<!-- -->2</x><y>&#50;</y><z>3</z></Point3>`.repeat(points);
  const first = rawPost("1.1", envelope("1.1", nullOp(unusual)));
  return repeat(connections, first + rawPost("1.1", envelope("1.1", nullOp())).repeat(behind));
}

/** Short requests for long answers, so many behind each other on a connection. */
export function cheap(connections: number, behind: number): Bytes[] {
  const paths = ["/metrics", `${PATH}?wsdl`, "/api/openapi.json", "/healthz"];
  return Array.from({ length: connections }, (_, i) => {
    const path = paths[i % paths.length] as string;
    return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`.repeat(behind) + get(path);
  });
}

/** The longest bodies of `/api/ask`, which hold nothing but lists within lists. */
export function nestedLists(count: number): Bytes[] {
  const body = `[{"a":${"[".repeat(2_000_000)}${"]".repeat(2_000_000)}}]`;
  const type = "Content-Type: application/json\r\nConnection: close";
  const head = `POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\n${type}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return repeat(count, head + body);
}

/** Lists of times without points and with one. */
export function timeLists(count: number, times: number): Bytes[] {
  const list = `[${Array<number>(times).fill(0).join(",")}]`;
  const path = "/api/datasets/isotropic32/values?what=u&method=Lag8";
  return Array.from({ length: count }, (_, i) => {
    const body = `{"time":${list},"points":${i % 2 === 0 ? "[]" : "[[1,2,3]]"}}`;
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n`;
    return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  });
}

/**
 * The largest requests that the limits allow, of every kind.
 * @param scale 1: as large as they may be
 */
export function largest(count: number, scale: number): Bytes[] {
  const size = (most: number): number => Math.max(1, Math.floor(most * scale));
  const tracked = { StartTime: 0.1, dt: "1e-9", nt: size(50_000_000), spatialInterpolation: "Lag8" };
  const particles = { ...tracked, dt: 0.0001, nt: 500, points: spread(size(100_000)) };
  const filtered = { time: 0.31, filterlength: 100, nlayers: 1, temporalInterpolation: "None" };
  const floats = Buffer.from(Float32Array.from({ length: 3 * size(2_000_000) }, (_, i) => (i % 6151) / 980).buffer);
  const hessian = "values?what=hess(u)&time=0.31&derivatives=Fd4Lag4";
  const side = Math.max(2, Math.floor(125 * Math.cbrt(scale)));
  const kinds: readonly Bytes[] = [
    soap(operation("GetPosition", { ...tracked, points: items([[1, 2, 3]]) })),
    soap(operation("GetPosition", particles)),
    soap(operation("GetBoxFilterSGSStress", { ...filtered, points: spread(size(3)) })),
    soap(getVelocity({ time: "0.31", points: spread(size(1_000_000)) })),
    octets(`/api/datasets/isotropic32/${hessian}`, floats),
    get(`/api/datasets/isotropic32/grid?what=norm(u)&time=0.31&samples=${side}`),
    get("/api/datasets/isotropic32/nodes?what=norm(omega)&frame=all&format=csv"),
  ];
  return Array.from({ length: count }, (_, i) => kinds[i % kinds.length] as Bytes);
}

/** A million points each: read as SOAP and as JSON, written as CSV, and evaluated for long. */
export function millions(): Bytes[] {
  const points = Array.from(
    { length: 1_000_000 },
    (_, i) => [(i % 977) / 156, (i % 491) / 79, (i % 251) / 41] as const,
  );
  const floats = Buffer.from(Float32Array.from(points.flat()).buffer);
  const velocity = `/api/datasets/isotropic32/values?what=u&method=Lag8&time=0.31`;
  const octet = "application/octet-stream";
  const post = (path: string, type: string, accept: string, body: Buffer): Buffer => {
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: ${type}\r\nAccept: ${accept}\r\n`;
    return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]);
  };
  return [
    soap(getVelocity({ time: "0.31", points: spread(points.length) })),
    post(velocity, "application/json", "application/json", Buffer.from(JSON.stringify({ points }))),
    post(velocity, octet, "text/csv", floats),
    post(`/api/datasets/isotropic32/values?what=hess(u)&derivatives=Fd4Lag4&time=0.31`, octet, octet, floats),
  ];
}

/** Requests with answers of some megabytes, for callers who do not read them. */
export function longAnswers(count: number, points: number): Bytes[] {
  return repeat(
    count,
    soap(
      getVelocity({ points: spread(points) })
        .replaceAll("GetVelocity", "GetVelocityHessian")
        .replace("Lag8", "None_Fd8"),
    ),
  );
}

export function silence(count: number): Bytes[] {
  return repeat(count, "");
}
