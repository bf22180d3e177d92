/** nginx as docs/reverse-proxy.md configures it keeps answers, and learns by their tags that they have not changed. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { RunningService } from "../../src/main.js";
import { scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";
import { missing, TOOLKITS } from "./packages.js";

const reason = missing(TOOLKITS.nginx);
if (reason !== null) console.log(`the cache in front is skipped: ${reason}`);

const PAGE = readFileSync(fileURLToPath(new URL("../../docs/reverse-proxy.md", import.meta.url)), "utf8");
const SLICE = "/api/datasets/isotropic32/grid?what=norm(S)&time=0.5&z=1";

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

function configuration(folder: string, port: number, service: string): string {
  const [, kept = "", place = ""] = /```nginx\n(proxy_cache_path [^\n]*)\n(.*?)```/s.exec(PAGE) ?? [];
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `${process.getuid?.() === 0 ? "user root;" : ""} daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
    events {}
    http {
      access_log off; ${temporary.join(" ")}
      ${kept.replace("/var/cache/nginx/fields", join(folder, "cache"))}
      server { listen 127.0.0.1:${port}; ${place.replace("http://127.0.0.1:8080", service)} }
    }`;
}

describe.skipIf(reason !== null)("a cache in front", () => {
  let service: RunningService;
  let nginx: ChildProcess;
  let url: string;

  beforeAll(async () => {
    service = await serveTestData([], { HTTP_CACHE_CONTROL: "public, max-age=1" });
    const folder = scratchFolder();
    mkdirSync(join(folder, "cache"));
    const port = await freePort();
    writeFileSync(join(folder, "nginx.conf"), configuration(folder, port, service.url));
    nginx = spawn("nginx", ["-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")], { stdio: "inherit" });
    url = `http://127.0.0.1:${port}`;
    await vi.waitFor(() => fetch(url), { timeout: 10_000 });
  });
  afterAll(async () => {
    nginx.kill("SIGTERM");
    await new Promise((resolve) => nginx.once("exit", resolve));
    await service.close();
  });

  const computed = async (): Promise<number> => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    const counts = [...metrics.matchAll(/^fieldprobe_points_total\{.*\} (\d+)/gm)];
    expect(counts.length).toBeGreaterThan(0);
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  };

  it("keeps a slice, and asks by its tag once its time is over", async () => {
    const direct = Buffer.from(await (await fetch(`${service.url}${SLICE}`)).arrayBuffer());
    const through = async () => {
      const answer = await fetch(`${url}${SLICE}`);
      expect(Buffer.from(await answer.arrayBuffer()).equals(direct)).toBe(true);
      return answer.headers.get("x-cache");
    };
    expect(await through()).toBe("MISS");
    const before = await computed();
    const seen = new Set<string | null>();
    await expect.poll(async () => seen.add(await through()).has("REVALIDATED"), { timeout: 10_000 }).toBe(true);
    expect(seen).toEqual(new Set(["HIT", "REVALIDATED"]));
    expect(await computed()).toBe(before);
  });

  it("keeps forms of an answer apart", async () => {
    const forms = ["application/octet-stream", "image/png", "application/x-npy"];
    for (const accept of [...forms, ...forms]) {
      const answer = await fetch(`${url}${SLICE}`, { headers: { accept } });
      expect(answer.headers.get("content-type")).toBe(accept);
    }
  });
});
