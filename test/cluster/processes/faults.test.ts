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
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { freeAddresses } from "../../../bench/free-addresses.js";
import type { Engine } from "../../../src/engine/contract/query.js";
import { writeCube } from "../../../tools/generate/cube.js";
import { scratchFolder } from "../../support/scratch.js";
import { makeKeys } from "./keys.js";
import { answerOf, QUERY, randomPoints } from "./queries.js";
import { openAlone, openMember, type Running, type Setup, startPeer, startWithFullDisk, usable } from "./support.js";

const POINTS = randomPoints(60_000, 21);
const CUBE = { kind: "random", nodes: [96, 96, 96], steps: 4, chunk: [16, 16, 16], filter: "none", seed: 5 } as const;

/** Loaded before a program: once a file is there, reads of data in its worker threads take half a minute. */
const HANGING_READS = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";
const { readSync } = fs;
fs.readSync = (...args) => {
  if (!isMainThread && fs.existsSync(process.env.HANG_FILE)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30_000);
  return readSync(...args);
};
syncBuiltinESMExports();
`;

describe("faults of a cluster", () => {
  const folder = scratchFolder();
  const data = join(folder, "data");
  const running: (Running | Engine)[] = [];
  let expected: Buffer;

  const keep = async <T extends Running | Engine>(one: Promise<T>): Promise<T> => {
    const value = await one;
    running.push(value);
    return value;
  };
  /** A member in this process, and processes beside it. */
  const cluster = async (others: number, given: Partial<Setup> = {}) => {
    const setup: Setup = { peers: await freeAddresses(others + 1), data: [data], cacheMiB: 8, ...given };
    const [own, ...rest] = setup.peers as [string, ...string[]];
    const peers = await Promise.all(rest.map((address) => keep(startPeer(address, setup))));
    const member = await keep(openMember(own, setup));
    await usable(member, others);
    return { member, peers, setup };
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
    const { member, peers } = await cluster(2);
    const asking = Promise.all(Array.from({ length: 4 }, () => same(member)));
    await expect
      .poll(() => member.status().peers.every(({ outstanding }) => outstanding > 0), { interval: 1 })
      .toBe(true);
    await peers[0]?.end("SIGKILL");
    await asking;
    expect(member.status().pieces?.refused).toBeGreaterThan(0);
    await usable(member, 1);
    const before = member.status().pieces?.refused;
    await same(member);
    expect(member.status().pieces?.refused).toBe(before);
  });

  it("a stopped process, and its return", { timeout: 60_000 }, async () => {
    const { member, peers } = await cluster(2);
    await same(member);
    peers[0]?.child.kill("SIGSTOP");
    const since = performance.now();
    await same(member);
    // The failure detector takes a second; the rest is the work of the lost process.
    expect(performance.now() - since).toBeLessThan(20_000);
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
    for (const [i, peer] of peers.entries()) {
      expect(await peer.end("SIGTERM")).toBe(0);
      await usable(member, 1);
      await keep(startPeer(setup.peers[i + 1] as string, setup));
      await usable(member, 2);
    }
    over = true;
    await Promise.all(asking);
  });

  it("a process that is added to the list, and one that is taken off it", { timeout: 60_000 }, async () => {
    const list = join(folder, "peers.txt");
    const [own, first, second] = (await freeAddresses(3)) as [string, string, string];
    const names = (...addresses: string[]): void => writeFileSync(list, addresses.join("\n"));
    names(own, first);
    const setup: Setup = { peers: [list], data: [data], cacheMiB: 8 };
    const peer = await keep(startPeer(first, setup));
    const member = await keep(openMember(own, setup));
    await usable(member, 1);
    let over = false;
    const asking = Array.from({ length: 2 }, async () => {
      while (!over) await same(member);
    });
    names(own, first, second);
    await keep(startPeer(second, setup));
    peer.child.kill("SIGHUP");
    await member.reload();
    await usable(member, 2);
    await same(member);
    names(own, second);
    await member.reload();
    await usable(member, 1);
    expect(await peer.end("SIGTERM")).toBe(0);
    over = true;
    await Promise.all(asking);
  });

  it("nobody there at first, and everybody gone for seconds", { timeout: 60_000 }, async () => {
    const setup: Setup = { peers: await freeAddresses(2), data: [data], cacheMiB: 8 };
    const member = await keep(openMember(setup.peers[0] as string, setup));
    await same(member);
    const peer = await keep(startPeer(setup.peers[1] as string, setup));
    await usable(member, 1);
    await same(member);
    await peer.end("SIGKILL");
    for (let i = 0; i < 3; i++) await same(member);
    await usable(member, 0);
  });

  it("a partition: connections that carry nothing any more", { timeout: 60_000 }, async () => {
    const [own, other, between] = (await freeAddresses(3)) as [string, string, string];
    const sockets: Socket[] = [];
    let open = true;
    const { port } = new URL(`http://${other}`);
    const { connect } = await import("node:net");
    const bridge = createServer((near) => {
      const far = connect(Number(port), "127.0.0.1");
      sockets.push(near, far);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        from.on("data", (chunk) => open && to.write(chunk));
        from.on("error", () => to.destroy());
        from.on("close", () => to.destroy());
      }
    }).listen(Number(new URL(`http://${between}`).port), "127.0.0.1");
    await once(bridge, "listening");
    try {
      await keep(startPeer(other, { peers: [own, other], data: [data], cacheMiB: 8 }));
      const member = await keep(openMember(own, { peers: [own, between], data: [data], cacheMiB: 8 }));
      await usable(member, 1);
      await same(member);
      open = false;
      await same(member);
      await usable(member, 0);
    } finally {
      for (const socket of sockets) socket.destroy();
      bridge.close();
    }
  });

  it("another build is not asked, and its pieces are refused", { timeout: 60_000 }, async () => {
    const { member, setup } = await cluster(1);
    const bin = anotherBuild();
    const [address] = await freeAddresses(1);
    const peers = [...setup.peers, address as string];
    const strange = await keep(startPeer(address as string, { ...setup, peers }, bin));
    const second = await keep(openMember((await freeAddresses(1))[0] as string, { ...setup, peers }));
    await usable(second, 2);
    expect(second.status().peers.find(({ name }) => name === address)?.usable).toBe(false);
    await same(second);
    await same(member);
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
    const setup: Setup = { peers: await freeAddresses(2), data: [data], cacheMiB: 8 };
    await keep(startPeer(setup.peers[1] as string, { ...setup, data: [copy] }));
    const member = await keep(openMember(setup.peers[0] as string, setup));
    await usable(member, 1);
    await same(member);
    expect(member.status().pieces?.refused).toBeGreaterThan(0);
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
    const setup: Setup = { peers: await freeAddresses(2 + others), data: [data], cacheMiB: 8 };
    const [own, slow, ...rest] = setup.peers as [string, string, ...string[]];
    const options = `${process.env.NODE_OPTIONS ?? ""} --import ${preload}`;
    await keep(startPeer(slow, setup, undefined, { NODE_OPTIONS: options, HANG_FILE: hang }));
    for (const other of rest) await keep(startPeer(other, setup));
    const member = await keep(openMember(own, setup));
    await usable(member, 1 + others);
    writeFileSync(hang, "");
    await same(member);
    expect(member.status().pieces?.late).toBeGreaterThan(0);
    expect(member.status().peers.every((peer) => peer.usable)).toBe(true);
  });

  it("a full disk: a process that cannot write its log answers all the same", { timeout: 60_000 }, async () => {
    const setup: Setup = { peers: await freeAddresses(2), data: [data], cacheMiB: 8 };
    const full = startWithFullDisk(setup.peers[1] as string, setup);
    try {
      const member = await keep(openMember(setup.peers[0] as string, setup));
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
      renewed.push(await keep(startPeer(setup.peers[i + 1] as string, setup, bin)));
      const left = peers.length - 1 - i;
      await usable(member, left);
    }
    over = true;
    await asking;
    // The new ones share among themselves, and give the same answer.
    const [{ url }] = renewed as [Running];
    const metricsOf = async (): Promise<string> => await (await fetch(`${url}/metrics`)).text();
    await vi.waitFor(async () => expect((await metricsOf()).match(/^fieldprobe_peer_usable.* 1$/gm)).toHaveLength(2), {
      timeout: 10_000,
    });
    const path = "api/datasets/cube/GetVelocity?time=0.1&spatialInterpolation=Lag8&temporalInterpolation=PCHIP";
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

  it("one address given to two processes: the second does not start", { timeout: 60_000 }, async () => {
    const { setup } = await cluster(1);
    await expect(startPeer(setup.peers[1] as string, setup)).rejects.toThrow(/in use/);
  });

  it("with keys: strangers ask nothing and answer nothing", { timeout: 60_000 }, async () => {
    const [mine, theirs] = ["mine", "theirs"].map((name) => {
      mkdirSync(join(folder, name));
      return makeKeys(join(folder, name));
    }) as [Record<string, string>, Record<string, string>];
    const { member, setup } = await cluster(1, { settings: mine });
    await same(member);
    expect(member.status().pieces?.asked).toBeGreaterThan(0);
    const plain = await fetch(`http://${setup.peers[1]}/v1/status`).catch((error: Error) => error);
    expect(plain).toBeInstanceOf(Error);
    const stranger = await keep(openMember((await freeAddresses(1))[0] as string, { ...setup, settings: theirs }));
    await same(stranger);
    expect(stranger.status().peers.some((peer) => peer.usable)).toBe(false);
    // A stranger in the place of a peer: it shows a certificate of another authority.
    const [own, forged] = (await freeAddresses(2)) as [string, string];
    const pair = { peers: [own, forged], data: [data], cacheMiB: 8 };
    await keep(startPeer(forged, { ...pair, settings: theirs }));
    const careful = await keep(openMember(own, { ...pair, settings: mine }));
    await vi.waitFor(() => expect(careful.status().peers.length).toBe(1));
    await same(careful);
    expect(careful.status().pieces?.asked).toBe(0);
  });
});
