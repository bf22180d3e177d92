/** Jobs of a cluster: any process takes tasks, and what one leaves when it is killed another one finishes. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { NO_NATS, useNatsServers } from "../../support/nats.js";
import { scratchFolder } from "../../support/scratch.js";
import { type Running, startPeer } from "./support.js";

const CALL = "/api/datasets/isotropic32/values?what=u&time=0.4&method=Lag8&time_method=nearest";
const OCTETS = "application/octet-stream";
/** Six tasks. */
const POINTS = 6 * 2 ** 20;

describe.skipIf(NO_NATS)("jobs of a cluster", () => {
  const folder = scratchFolder();
  const startNats = useNatsServers();
  const processes: Running[] = [];
  afterAll(async () => {
    for (const running of processes) await running.end();
  });

  it("are finished by another process when the one that was asked is killed", { timeout: 300_000 }, async () => {
    const { url } = await startNats(["-js", "-sd", join(folder, "nats")]);
    for (const name of ["one", "two"]) {
      const settings = { STATE: join(folder, name), RESULTS: join(folder, "results") };
      processes.push(await startPeer({ nats: url, settings }));
    }
    const [one, two] = processes as [Running, Running];
    const headers = { prefer: "respond-async", accept: OCTETS };
    const accepted = await fetch(`${one.url}${CALL}&points.random=${POINTS}&points.seed=7`, {
      method: "POST",
      headers,
    });
    expect(accepted.status).toBe(202);
    const location = accepted.headers.get("location") as string;
    const look = async (at: Running) =>
      (await (await fetch(`${at.url}${location}`)).json()) as {
        state: string;
        progress: number;
        result: { sha256: string };
      };
    await expect.poll(async () => (await look(two)).progress, { timeout: 60_000 }).toBeGreaterThan(0);
    await one.end("SIGKILL");
    await expect.poll(async () => (await look(two)).state, { timeout: 200_000, interval: 200 }).toBe("done");
    const whole = Buffer.from(await (await fetch(`${two.url}${location}/result`)).arrayBuffer());
    expect(whole.length).toBe(12 * POINTS);
    expect(createHash("sha256").update(whole).digest("hex")).toBe((await look(two)).result.sha256);
    // Both have computed: what one did was not done again.
    expect(two.log()).not.toContain("a job failed");
  });
});
