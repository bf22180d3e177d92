/**
 * Asks a service one small question after another and prints what it has seen, in a process of its own, so that
 * nothing else takes its time. Every second question goes by a connection that stays open, the others by new ones.
 *
 * Argument: JSON with `port`, `path`, `question`, `pauseMs`, and `questions` or `ms` as the end; with `pid`, that of
 * the service, on Linux: also the largest CPU time that any one of its threads took while a question waited, that of
 * its main thread, and the most memory that it held.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";

const { port, path, question, pauseMs, questions, ms, pid } = JSON.parse(process.argv[2]);
const headers = { "content-type": "text/xml; charset=utf-8", "content-length": Buffer.byteLength(question) };
const agents = [new Agent({ keepAlive: true, maxSockets: 1 }), new Agent({ keepAlive: false })];

function ask(agent) {
  return new Promise((resolve) => {
    const failed = (error) => resolve({ status: 0, text: String(error) });
    const sent = request({ host: "127.0.0.1", port, path, method: "POST", headers, agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      answer.once("end", () => resolve({ status: answer.statusCode, text }));
      answer.once("error", failed);
    });
    sent.once("error", failed);
    sent.end(question);
  });
}

/** Milliseconds of CPU that each thread of the service has had. */
function cpuTimes() {
  const spent = new Map();
  if (pid === undefined) return spent;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const [ns] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1").split(" ");
      spent.set(thread, Number(ns) / 1e6);
    } catch {
      // The thread has ended.
    }
  }
  return spent;
}

/** Milliseconds of CPU of the service. */
function total() {
  return [...cpuTimes().values()].reduce((sum, spent) => sum + spent, 0);
}

/** The most memory that the service has held since the last call, in MiB; the system then counts anew. */
function peakMiB() {
  if (pid === undefined) return 0;
  const [, kib] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  return Math.round(kib / 1024);
}

const times = [];
const cpu = [];
const main = [];
peakMiB();
const [spentBefore, wallBefore] = [total(), performance.now()];
const began = performance.now();
let expected = null;
let wrong = 0;
let refused = 0;
let first = "";
while (questions === undefined ? performance.now() - began < ms : times.length < questions) {
  const before = cpuTimes();
  const since = performance.now();
  const said = await ask(agents[times.length % 2]);
  times.push(performance.now() - since);
  const spent = [...cpuTimes()].map(([thread, ms]) => [thread, ms - (before.get(thread) ?? 0)]);
  cpu.push(Math.max(0, ...spent.map(([, ms]) => ms)));
  main.push(spent.find(([thread]) => thread === String(pid))?.[1] ?? 0);
  if (said.status === 503) refused++;
  expected ??= said.text;
  if ((said.status !== 200 || said.text !== expected) && wrong++ === 0)
    first = `${said.status} ${said.text.slice(0, 300)}`;
  if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
}
for (const agent of agents) agent.destroy();
const load = Math.round((100 * (total() - spentBefore)) / (performance.now() - wallBefore)) / 100;
for (const list of [times, cpu, main]) list.sort((a, b) => a - b);
const part = (list, of) => Math.round(10 * list[Math.min(list.length - 1, Math.floor(of * list.length))]) / 10;
const at = (of) => part(times, of);
const seen = { asked: times.length, wrong, refused, first, median: at(0.5), p99: at(0.99), longest: at(1) };
const threads = {
  cpuMedian: part(cpu, 0.5),
  cpuP99: part(cpu, 0.99),
  mainMedian: part(main, 0.5),
  mainP99: part(main, 0.99),
};
process.stdout.write(JSON.stringify({ ...seen, ...threads, load, peakMiB: peakMiB() }));
