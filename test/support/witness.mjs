/**
 * Asks a service one small question after another and prints what it has seen, in a process of its own, so that
 * nothing else takes its time. Every second question goes by a connection that stays open, the others by new ones.
 *
 * Argument: JSON with `port`, `path`, `question`, `pauseMs`, and `questions` or `ms` as the end.
 */
import { Agent, request } from "node:http";

const { port, path, question, pauseMs, questions, ms } = JSON.parse(process.argv[2]);
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

const times = [];
const began = performance.now();
let expected = null;
let wrong = 0;
let first = "";
while (questions === undefined ? performance.now() - began < ms : times.length < questions) {
  const since = performance.now();
  const said = await ask(agents[times.length % 2]);
  times.push(performance.now() - since);
  expected ??= said.text;
  if ((said.status !== 200 || said.text !== expected) && wrong++ === 0)
    first = `${said.status} ${said.text.slice(0, 300)}`;
  if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
}
for (const agent of agents) agent.destroy();
times.sort((a, b) => a - b);
const at = (part) => Math.round(10 * times[Math.min(times.length - 1, Math.floor(part * times.length))]) / 10;
process.stdout.write(
  JSON.stringify({ asked: times.length, wrong, first, median: at(0.5), p99: at(0.99), longest: at(1) }),
);
