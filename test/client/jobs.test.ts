/** Methods for jobs against a small server that says what a service would. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { ClientError } from "../../src/client/index.js";
import { type JobDescription, jobsOf } from "../../src/client/jobs.js";

let close = (): unknown => undefined;
afterEach(() => close());

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer((request, response) =>
    answer(request, response.setHeader("content-type", "application/json")),
  );
  close = () => server.close();
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const CONTENT = "1,2,3\n";
const sha256 = createHash("sha256").update(CONTENT).digest("hex");
const DONE: Pick<JobDescription, "state" | "problem" | "result"> = {
  state: "done",
  problem: null,
  result: { href: "", name: "a.csv", type: "text/csv", bytes: CONTENT.length, sha256 },
};

it("goes on waiting for a job while the queue cannot be reached, longer than one request is retried", async () => {
  let requests = 0;
  const url = await serve((_, response) => {
    const isBusy = ++requests <= 9;
    if (isBusy) response.writeHead(503, { "retry-after": "0" });
    response.end(JSON.stringify(isBusy ? { code: "Busy", detail: "The queue cannot be reached." } : DONE));
  });
  expect(await jobsOf(url, undefined).wait("1")).toMatchObject({ state: "done" });
  expect(requests).toBe(10);
});

it("gives up at any other refusal", async () => {
  const refusal = { code: "NotFound", detail: "There is no such job." };
  const url = await serve((_, response) => void response.writeHead(404).end(JSON.stringify(refusal)));
  const refused = jobsOf(url, undefined).wait("1");
  await expect(refused).rejects.toThrow(ClientError);
  await expect(refused).rejects.toThrow("There is no such job.");
});

it.each([
  ["as it was written", CONTENT],
  ["that was changed", "1,2,4\n"],
])("reads a file %s, or fails at its end", async (_, content) => {
  const url = await serve((request, response) => {
    response.end(request.url?.endsWith("/result") ? content : JSON.stringify(DONE));
  });
  const text = (await jobsOf(url, undefined).result("1")).text();
  if (content === CONTENT) expect(await text).toBe(CONTENT);
  else await expect(text).rejects.toThrow("a.csv is not what the job has written");
});
