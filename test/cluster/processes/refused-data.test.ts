/** A dataset that becomes refused while a cluster serves it ends no process: its owners stop, and start again. */
import { appendFileSync, cpSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/contract/query.js";
import { NO_NATS, useNatsServers } from "../../support/nats.js";
import { scratchFolder } from "../../support/scratch.js";
import { openMember, type Running, SHIPPED, startPeer, usable } from "./support.js";

type Change = (dataset: string) => void;

const onNumbers =
  (change: Change): Change =>
  (dataset) =>
    change(join(dataset, "isotropic32.h5"));
const onText =
  (from: string | RegExp, to: string): Change =>
  (dataset) => {
    const file = join(dataset, "dataset.json");
    writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
  };

const WAYS: readonly (readonly [string, Change])[] = [
  ["bytes appended", onNumbers((file) => appendFileSync(file, "more"))],
  ["a file cut short", onNumbers((file) => truncateSync(file, 5000))],
  ["an empty file", onNumbers((file) => truncateSync(file, 0))],
  ["a deleted file", onNumbers((file) => rmSync(file))],
  ["a file overwritten in place", onNumbers((file) => writeFileSync(file, "x".repeat(1e6)))],
  ["a renamed file", onNumbers((file) => renameSync(file, `${file}.old`))],
  ["a description that is not JSON", onText("{", "[")],
  ["a member that is missing", onText('"time"', '"times"')],
  ["other nodes than are stored", onText('"nodes": 32', '"nodes": 33')],
  ["a dataset that is not stored", onText('"/velocity"', '"/speed"')],
];

describe.skipIf(NO_NATS)("a dataset that becomes refused in a cluster", () => {
  const folder = scratchFolder();
  const startNats = useNatsServers();
  const [data, dataset] = [join(folder, "data"), join(folder, "data", "isotropic32")];
  const restore = (): void => cpSync(SHIPPED, dataset, { recursive: true, preserveTimestamps: true });
  let peer: Running;
  let member: Engine;

  beforeAll(async () => {
    restore();
    const { url } = await startNats();
    peer = await startPeer({ nats: url, data: [data], settings: { STATE: join(folder, "state") } });
    member = await openMember({ nats: url, data: [SHIPPED] });
    await usable(member, 1, 1);
  }, 60_000);
  afterAll(async () => {
    await member?.close(1000);
    await peer?.end();
  });

  it.each(WAYS)("by %s", { timeout: 60_000 }, async (_, change) => {
    change(dataset);
    peer.child.kill("SIGHUP");
    const told = () => member.status().peers.map(({ shared }) => shared);
    await expect.poll(told, { timeout: 20_000, interval: 20 }).toEqual([0]);
    expect((await fetch(`${peer.url}/api/datasets/isotropic32`)).status).toBe(503);
    rmSync(dataset, { recursive: true });
    restore();
    peer.child.kill("SIGHUP");
    await usable(member, 1, 1);
    expect(peer.child.exitCode).toBeNull();
  });
});
