/** Faults change no bit and refuse no query: processes that die, stop, drain or differ, and copies that do. */
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Dataset } from "../../../src/engine/contract/dataset.js";
import type { Engine } from "../../../src/engine/contract/query.js";
import { reductionOf, regionNodes } from "../../../src/server/ask/analysis/analysed-nodes.js";
import { writeCube } from "../../../tools/generate/cube.js";
import { NO_NATS, useNatsServers } from "../../support/nats.js";
import { scratchFolder } from "../../support/scratch.js";
import { answerOf, QUERY, randomPoints } from "./queries.js";
import { openAlone, openMember, type Running, type Setup, startPeer, startWithFullDisk, usable } from "./support.js";

/** So many that every process is asked for those in its regions, however few. */
const POINTS = randomPoints(70_000, 21);
/** A cache that holds the cube: otherwise halos let fewer processes divide a query. */
const WHOLE = { cacheMiB: 96 } as const;
const CUBE = { kind: "random", nodes: [96, 96, 96], steps: 4, chunk: [8, 8, 8], filter: "none", seed: 5 } as const;

/** The states of moments of a quantity at all nodes of the cube. */
async function reduced(engine: Engine, { moments, frames }: { moments: string; frames: number[] }): Promise<unknown> {
  const dataset = engine.find("cube") as Dataset;
  // Frames are counted from 1 here, from 0 in questions.
  const analysed = regionNodes(
    {},
    dataset,
    frames.map((frame) => frame - 1),
  );
  const [x, y, z] = analysed.base.extent;
  const { field, first, stride } = analysed;
  const nodes = { field, frame: 0, first, count: [x, y, z], stride } as const;
  const plan = { columns: [moments], reductions: [{ kind: "moments", of: 0, order: 4 }] } as const;
  const query = {
    operation: "GetAnyCutoutWeb",
    dataset: "cube",
    nodes,
    reduction: reductionOf(analysed, plan),
  } as const;
  const result = await engine.start(query, { deadlineMs: 60_000 }).finish();
  result.release();
  return result.reduced?.states(0);
}

/** Loaded before a program: once a file is there, reads of data in its worker threads never end. */
const HANGING_READS = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";
const { readSync } = fs;
fs.readSync = (...args) => {
  if (!isMainThread && fs.existsSync(process.env.HANG_FILE)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return readSync(...args);
};
syncBuiltinESMExports();
`;

describe.skipIf(NO_NATS)("faults of a cluster", () => {
  const folder = scratchFolder();
  const data = join(folder, "data");
  const startNats = useNatsServers();
  const running: (Running | Engine)[] = [];
  let expected: Buffer;

  const keep = async <T extends Running | Engine>(one: Promise<T>): Promise<T> => {
    const value = await one;
    running.push(value);
    return value;
  };
  /** A member in this process, and other processes. */
  const cluster = async (others: number, given: Partial<Setup> = {}) => {
    const server = await startNats();
    const setup: Setup = { nats: server.url, data: [data], cacheMiB: 8, ...given };
    const peers = await Promise.all(Array.from({ length: others }, () => keep(startPeer(setup))));
    const member = await keep(openMember(setup));
    await usable(member, others);
    return { member, peers, setup, server };
  };
  const same = async (engine: Engine): Promise<void> => {
    expect((await answerOf(engine, QUERY, POINTS)).equals(expected)).toBe(true);
  };

  /** Copies the program with another byte in its code; its path. */
  const anotherBuild = (): string => {
    const root = join(folder, "build");
    const bin = join(root, "bin/fieldprobe.js");
    if (existsSync(bin)) return bin;
    for (const name of ["bin", "dist", "package.json", "data/jhtdb.json"])
      cpSync(new URL(`../../../${name}`, import.meta.url), join(root, name), { recursive: true });
    symlinkSync(fileURLToPath(new URL("../../../node_modules", import.meta.url)), join(root, "node_modules"));
    const kernel = join(root, "dist/kernels/lagrange.js");
    writeFileSync(kernel, `${readFileSync(kernel, "utf8")}\n// another build\n`);
    return bin;
  };

  beforeAll(async () => {
    mkdirSync(join(data, "cube"), { recursive: true });
    await writeCube({ ...CUBE, name: "cube", folder: join(data, "cube") }, () => {});
    const alone = await openAlone({ data: [data] });
    expected = await answerOf(alone, QUERY, POINTS);
    await alone.close(1000);
  }, 60_000);
  afterEach(async () => {
    for (const one of running.splice(0).toReversed()) await ("end" in one ? one.end() : one.close(1000));
  });

  it("a process killed in the middle of queries", { timeout: 60_000 }, async () => {
    const { member, peers } = await cluster(2, WHOLE);
    const asking = Promise.all(Array.from({ length: 4 }, () => same(member)));
    await expect
      .poll(() => member.status().peers.every(({ outstanding }) => outstanding > 0), { interval: 1, timeout: 10_000 })
      .toBe(true);
    await peers[0]?.end("SIGKILL");
    await asking;
    expect(member.status().pieces?.refused).toBeGreaterThan(0);
    await usable(member, 1);
    const before = member.status().pieces?.refused;
    await same(member);
    expect(member.status().pieces?.refused).toBe(before);
  });

  it("a process killed in the middle of a reduction", { timeout: 60_000 }, async () => {
    const { member, peers } = await cluster(2, WHOLE);
    const reduction = { moments: "ddot(S,S) + eig1(S) + eig2(S) * eig3(S)", frames: [1, 2, 3, 4] };
    const alone = await keep(openAlone({ data: [data] }));
    const reducing = reduced(member, reduction);
    await expect
      .poll(() => member.status().peers.every(({ outstanding }) => outstanding > 0), { interval: 1 })
      .toBe(true);
    await peers[0]?.end("SIGKILL");
    expect(await reducing).toStrictEqual(await reduced(alone, reduction));
    expect(member.status().pieces).toMatchObject({ refused: 1 });
  });

  it("a stopped process, and its return", { timeout: 60_000 }, async () => {
    const { member, peers } = await cluster(2);
    await same(member);
    peers[0]?.child.kill("SIGSTOP");
    await same(member);
    await usable(member, 1);
    peers[0]?.child.kill("SIGCONT");
    await usable(member, 2);
    await same(member);
  });

  it("a process that drains, and one by one a new version of each", { timeout: 90_000 }, async () => {
    const { member, peers, setup } = await cluster(2);
    let over = false;
    const asking = Array.from({ length: 2 }, async () => {
      while (!over) await same(member);
    });
    for (const peer of peers) {
      expect(await peer.end("SIGTERM")).toBe(0);
      await usable(member, 1);
      await keep(startPeer(setup));
      await usable(member, 2);
    }
    over = true;
    await Promise.all(asking);
  });

  it("processes that join and leave under load", { timeout: 60_000 }, async () => {
    const { member, setup } = await cluster(1);
    let over = false;
    const asking = Array.from({ length: 2 }, async () => {
      while (!over) await same(member);
    });
    const joined = await Promise.all([0, 1].map(() => keep(startPeer(setup))));
    await usable(member, 3);
    await same(member);
    for (const [i, peer] of joined.entries()) {
      expect(await peer.end(i === 0 ? "SIGTERM" : "SIGKILL")).not.toBe(1);
      await usable(member, 2 - i);
    }
    over = true;
    await Promise.all(asking);
  });

  it("nobody there at first, and everybody gone for seconds", { timeout: 60_000 }, async () => {
    const { member, setup } = await cluster(0);
    await same(member);
    const peer = await keep(startPeer(setup));
    await usable(member, 1);
    await same(member);
    await peer.end("SIGKILL");
    for (let i = 0; i < 3; i++) await same(member);
    await usable(member, 0);
  });

  it("a NATS server that is restarted, lost, and hung, in the middle of queries", { timeout: 90_000 }, async () => {
    const { member, server } = await cluster(2);
    let over = false;
    const asking = Array.from({ length: 2 }, async () => {
      while (!over) await same(member);
    });
    const port = new URL(server.url).port;
    await server.end();
    await usable(member, 0);
    await same(member);
    const again = await startNats(["-p", port]);
    await usable(member, 2);
    again.child.kill("SIGSTOP");
    await usable(member, 0);
    await same(member);
    again.child.kill("SIGCONT");
    await usable(member, 2);
    over = true;
    await Promise.all(asking);
  });

  it("a partition: a connection that carries nothing any more", { timeout: 60_000 }, async () => {
    const server = await startNats();
    const sockets: Socket[] = [];
    let open = true;
    const { connect } = await import("node:net");
    const bridge = createServer((near) => {
      const far = connect(Number(new URL(server.url).port), "127.0.0.1");
      sockets.push(near, far);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        from.on("data", (chunk) => open && to.write(chunk));
        from.on("error", () => to.destroy());
        from.on("close", () => to.destroy());
      }
    }).listen(0, "127.0.0.1");
    await once(bridge, "listening");
    try {
      const between = `nats://127.0.0.1:${(bridge.address() as AddressInfo).port}`;
      await keep(startPeer({ nats: server.url, data: [data], cacheMiB: 8 }));
      const member = await keep(openMember({ nats: between, data: [data], cacheMiB: 8 }));
      await usable(member, 1);
      await same(member);
      open = false;
      await same(member);
      await usable(member, 0);
      await same(member);
      open = true;
      await usable(member, 1);
      await same(member);
    } finally {
      for (const socket of sockets) socket.destroy();
      bridge.close();
    }
  });

  it("another build is not asked", { timeout: 60_000 }, async () => {
    const { member, setup } = await cluster(1);
    const strange = await keep(startPeer(setup, anotherBuild()));
    await vi.waitFor(() => expect(member.status().peers).toHaveLength(2), { timeout: 20_000 });
    await usable(member, 1);
    const asked = member.status().pieces?.asked as number;
    await same(member);
    expect(member.status().pieces).toMatchObject({ asked: asked + 1, refused: 0 });
    expect(strange.log()).toContain('"same":false');
  });

  it("an equal-size copy with other bytes answers nothing", { timeout: 60_000 }, async () => {
    const copy = join(folder, "copy");
    cpSync(data, copy, { recursive: true, preserveTimestamps: true });
    const file = join(copy, "cube/cube.h5");
    const bytes = readFileSync(file);
    for (let at = 100_000; at < bytes.length; at += 50_000) bytes.writeFloatLE(3, at - (at % 4));
    const { atime, mtime } = statSync(join(data, "cube/cube.h5"));
    writeFileSync(file, bytes);
    utimesSync(file, atime, mtime);
    const { member, setup } = await cluster(0);
    await keep(startPeer({ ...setup, data: [copy] }));
    await vi.waitFor(() => expect(member.status().peers).toMatchObject([{ shared: 0, differing: 1 }]), 20_000);
    await same(member);
    expect(member.status().pieces).toMatchObject({ asked: 0 });
    const right = join(folder, "right");
    cpSync(data, right, { recursive: true, preserveTimestamps: true });
    const { member: fine } = await cluster(1, { data: [right] });
    await same(fine);
    expect(fine.status().pieces?.refused).toBe(0);
  });

  it.each([
    { others: 0, by: "this process" },
    { others: 1, by: "others" },
  ])("a disk that hangs: what gets nothing done is evaluated by $by", { timeout: 60_000 }, async ({ others }) => {
    const hang = join(folder, `hang-${others}`);
    const preload = join(folder, "hang.mjs");
    writeFileSync(preload, HANGING_READS);
    const { url } = await startNats();
    const setup: Setup = { nats: url, data: [data], ...WHOLE };
    const options = `${process.env.NODE_OPTIONS ?? ""} --import ${preload}`;
    await keep(startPeer(setup, undefined, { NODE_OPTIONS: options, HANG_FILE: hang }));
    for (let other = 0; other < others; other++) await keep(startPeer(setup));
    const member = await keep(openMember(setup));
    await usable(member, 1 + others);
    writeFileSync(hang, "");
    await same(member);
    expect(member.status().pieces?.late).toBe(1);
    await usable(member, others);
    await same(member);
    expect(member.status().pieces?.late).toBe(1);
  });

  it("a full disk: a process that cannot write its log answers all the same", { timeout: 60_000 }, async () => {
    const { url } = await startNats();
    const setup: Setup = { nats: url, data: [data], cacheMiB: 8 };
    const full = startWithFullDisk(setup);
    try {
      const member = await keep(openMember(setup));
      await usable(member, 1);
      await same(member);
      await same(member);
      const { asked, refused } = member.status().pieces as { asked: number; refused: number };
      expect(asked).toBeGreaterThan(refused);
      expect(full.exitCode).toBeNull();
    } finally {
      full.kill("SIGKILL");
    }
  });

  it("a dataset that is replaced under load: its link leads to another folder", { timeout: 90_000 }, async () => {
    const changing = join(folder, "changing");
    mkdirSync(changing);
    mkdirSync(join(folder, "next"));
    await writeCube({ ...CUBE, seed: 6, name: "cube", folder: join(folder, "next") }, () => {});
    symlinkSync(join(data, "cube"), join(changing, "cube"));
    symlinkSync(join(folder, "next"), join(folder, "link"));
    const { member, peers } = await cluster(2, { data: [changing] });
    const fresh = await openAlone({ data: [join(folder, "next")] });
    const next = await answerOf(fresh, QUERY, POINTS);
    await fresh.close(1000);
    let over = false;
    let answers = 0;
    const asking = Array.from({ length: 2 }, async () => {
      while (!over) {
        const found = await answerOf(member, QUERY, POINTS);
        expect(found.equals(expected) || found.equals(next)).toBe(true);
        answers++;
      }
    });
    const asked = Promise.all(asking);
    asked.catch(() => undefined);
    await expect.poll(() => answers, { timeout: 20_000 }).toBeGreaterThan(2);
    renameSync(join(folder, "link"), join(changing, "cube"));
    // One after the other they see the new one.
    for (const see of [
      () => peers[0]?.child.kill("SIGHUP"),
      () => member.reload(),
      () => peers[1]?.child.kill("SIGHUP"),
    ]) {
      await see();
      const before = answers;
      await expect.poll(() => answers, { timeout: 20_000 }).toBeGreaterThan(before + 1);
    }
    over = true;
    await asked;
    const refused = (): number | undefined => member.status().pieces?.refused;
    const all = async (): Promise<boolean> => {
      const before = refused();
      return (await answerOf(member, QUERY, POINTS)).equals(next) && refused() === before;
    };
    await expect.poll(all, { timeout: 20_000 }).toBe(true);
  });

  it("two generations side by side, while one replaces the other", { timeout: 120_000 }, async () => {
    const { member, peers, setup } = await cluster(3);
    const bin = anotherBuild();
    let over = false;
    const asking = (async () => {
      while (!over) await same(member);
    })();
    const renewed: Running[] = [];
    for (const [i, peer] of peers.entries()) {
      expect(await peer.end("SIGTERM")).toBe(0);
      renewed.push(await keep(startPeer(setup, bin)));
      const left = peers.length - 1 - i;
      await usable(member, left);
    }
    over = true;
    await asking;
    const [{ url }] = renewed as [Running];
    const metricsOf = async (): Promise<string> => await (await fetch(`${url}/metrics`)).text();
    await vi.waitFor(async () => expect((await metricsOf()).match(/^fieldprobe_peer_usable.* 1$/gm)).toHaveLength(2), {
      timeout: 10_000,
    });
    const path = "api/datasets/cube/values?what=u&time=0.1&method=Lag8";
    const octets = await fetch(`${url}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream", accept: "application/octet-stream" },
      body: POINTS.buffer as ArrayBuffer,
    });
    expect(Buffer.from(await octets.arrayBuffer()).equals(expected)).toBe(true);
    const metrics = await metricsOf();
    expect(Number(/fieldprobe_pieces_total\{kind="asked"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(0);
    expect(metrics).toContain('fieldprobe_pieces_total{kind="refused"} 0');
  });

  it("wrong credentials are told once, and the process answers alone", { timeout: 60_000 }, async () => {
    const { url } = await startNats(["--user", "fieldprobe", "--pass", "secret"]);
    const right = url.replace("//", "//fieldprobe:secret@");
    await keep(startPeer({ nats: right, data: [data] }));
    const member = await keep(openMember({ nats: right, data: [data], cacheMiB: 8 }));
    await usable(member, 1);
    await same(member);
    expect(member.status().pieces?.asked).toBeGreaterThan(0);
    const stranger = await keep(startPeer({ nats: url.replace("//", "//fieldprobe:wrong@"), data: [data] }));
    await vi.waitFor(() => expect(stranger.log()).toMatch(/Authorization Violation/i), 5000);
    const answer = await fetch(`${stranger.url}/readyz`);
    expect([answer.status, await answer.text()]).toEqual([
      200,
      expect.stringMatching(/^cluster: alone: .*Authorization/im),
    ]);
    expect(stranger.log().match(/no connection to NATS/g)).toHaveLength(1);
    expect(stranger.log()).not.toContain("wrong@");
    expect(member.status().peers).toHaveLength(1);
  });

  it("a NATS server that is lost: the metric of its alert is 0, and /readyz says why", {
    timeout: 60_000,
  }, async () => {
    const server = await startNats();
    const { url } = await keep(startPeer({ nats: server.url, data: [data] }));
    await keep(startPeer({ nats: server.url, data: [data] }));
    const ask = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
    const soon = { timeout: 20_000 } as const;
    await vi.waitFor(async () => expect(await ask("/readyz")).toContain("\ncluster: 1 of 1 peers usable\n"), soon);
    expect(await ask("/metrics")).toContain("\nfieldprobe_nats_connected 1\n");
    await server.end();
    await vi.waitFor(async () => expect(await ask("/metrics")).toContain("\nfieldprobe_nats_connected 0\n"), soon);
    expect(await ask("/readyz")).toMatch(/^ready\n(.*\n)*cluster: alone: .+\n/);
    // The series of its peers stay, so that their alert can fire.
    expect(await ask("/metrics")).toMatch(/\nfieldprobe_peer_usable\{peer="[^"]+"\} 0\n/);
  });

  it("a peer with lower limits: a line of the log says so once", { timeout: 60_000 }, async () => {
    const { url } = await startNats();
    const settings = { QUERY_POINTS: "10" };
    await keep(startPeer({ nats: url, data: [data], cacheMiB: 8, settings }));
    const asked = await keep(startPeer({ nats: url, data: [data], cacheMiB: 8 }));
    const soon = { timeout: 20_000 } as const;
    await vi.waitFor(async () => {
      expect(await (await fetch(`${asked.url}/readyz`)).text()).toContain("cluster: 1 of 1 peers usable");
    }, soon);
    const call = "/api/datasets/cube/values?what=u&time=0&method=Lag4&time_method=nearest";
    const headers = { "content-type": "application/octet-stream" };
    for (const _ of [1, 2])
      expect((await fetch(`${asked.url}${call}`, { method: "POST", headers, body: POINTS.slice() })).status).toBe(200);
    expect(asked.log().match(/peer has lower limits/g)).toHaveLength(1);
  });
});
