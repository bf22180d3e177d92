/**
 * Builds the site of the documents into dist/site: makes the references of the HTTP interfaces and of the typed client,
 * and lets VitePress write the pages. The service has them at `/docs`.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openApiPage } from "./openapi-page.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const REFERENCE = join(ROOT, "docs/reference");

/** The OpenAPI documents of a service by the name of their page; that of the events comes soon after the start. */
const DOCUMENTS = { http: "/api/openapi.json", events: "/openapi.json" };

/** Starts a service on a free port, and returns its address and how to end it. */
async function startService() {
  const state = mkdtempSync(join(tmpdir(), "site-"));
  const child = spawn(process.execPath, ["bin/fieldprobe.js", "serve", "--port", "0"], {
    cwd: ROOT,
    env: { ...process.env, FIELDPROBE_STATE: state, FIELDPROBE_LOG_LEVEL: "warn" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill();
    await ended;
    rmSync(state, { recursive: true, force: true });
  };
  let said = "";
  for await (const text of child.stdout) {
    said += text;
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
    if (url !== undefined) return { url, stop };
  }
  await stop();
  throw new Error(`The service did not start: ${said}`);
}

async function writeHttpReferences() {
  const { url, stop } = await startService();
  try {
    for (const [name, path] of Object.entries(DOCUMENTS)) {
      let answer = await fetch(url + path);
      for (let tries = 0; answer.status === 404 && tries < 100; tries++) {
        await setTimeout(100);
        answer = await fetch(url + path);
      }
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
      writeFileSync(join(REFERENCE, `${name}.md`), openApiPage(await answer.json(), path));
    }
  } finally {
    await stop();
  }
}

function writeClientReference() {
  const options = {
    entryPoints: ["src/client/index.ts"],
    tsconfig: "tsconfig.json",
    plugin: ["typedoc-plugin-markdown"],
    out: join(REFERENCE, "client"),
    readme: "none",
    name: "Typed client",
    router: "kind",
    disableSources: true,
    excludeInternal: true,
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    skipErrorChecking: true,
    logLevel: "Error",
  };
  const words = Object.entries(options).flatMap(([name, value]) =>
    [value].flat().map((one) => [`--${name}`, `${one}`]),
  );
  execFileSync(process.execPath, [join(ROOT, "docs/node_modules/typedoc/bin/typedoc"), ...words.flat()], {
    cwd: ROOT,
    stdio: "inherit",
  });
}

rmSync(REFERENCE, { recursive: true, force: true });
mkdirSync(REFERENCE, { recursive: true });
await writeHttpReferences();
writeClientReference();
execFileSync(process.execPath, [join(ROOT, "node_modules/vitepress/bin/vitepress.js"), "build", "docs"], {
  cwd: ROOT,
  stdio: "inherit",
});
rmSync(REFERENCE, { recursive: true, force: true });
