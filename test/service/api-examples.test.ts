/** Every operation of `/api` has an example on its page, whose answer is what the service answers. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../src/main.js";
import { exampleOf } from "../../src/server/rest/api-examples.js";
import { CALL_NAMES } from "../../src/shared/calls.js";
import { serveTestData } from "../support/service.js";

const FILE = fileURLToPath(new URL("../../src/server/rest/example-answers.ts", import.meta.url));
/** Characters of an answer that are shown. */
const SHOWN = 600;
let service: RunningService;
beforeAll(async () => {
  service = await serveTestData();
});
afterAll(() => service.close());

async function operations(): Promise<(readonly [method: string, address: string, operation: { summary?: string }])[]> {
  const document = (await (await fetch(`${service.url}/api/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { summary?: string; description?: string }>>;
  };
  return Object.entries(document.paths).flatMap(([address, methods]) =>
    Object.entries(methods).map(([method, operation]) => [method, address, operation] as const),
  );
}

/** The text of an answer without what changes from run to run and from release to release. */
function shown(text: string): string {
  const plain = text
    .trim()
    .replace(/"requestId":"[^"]*"/, '"requestId":"..."')
    .replace(/"version":"[^"]*"/, '"version":"..."');
  return plain.length > SHOWN ? `${plain.slice(0, SHOWN)} ...` : plain;
}

const quoted = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n")}'`;

describe("the page of /api", () => {
  it("shows for every operation what the service answers to its example", async () => {
    const lines: string[] = [];
    for (const [method, address] of await operations()) {
      const example = exampleOf(method, address);
      if (example === undefined) {
        // Questions have their examples in their own table, which test/server/ask runs.
        const isCall = CALL_NAMES.some((name) => address === `/api/datasets/{name}/${name}`);
        if (!isCall && address !== "/api/ask")
          expect(address).toMatch(/^\/api\/(jobs|inputs|datasets\/\{name\}\/levels$)/);
        continue;
      }
      const { body } = example;
      const sent = body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      const answer = await fetch(service.url + example.address, { method: method.toUpperCase(), ...sent });
      // What the shipped data lack is refused in a sentence that names it.
      if (answer.status !== 200)
        expect(await answer.clone().text(), address).toMatch(/it has no|not uniform|field that the dataset has/);
      const type = answer.headers.get("content-type") ?? "";
      const shape = answer.headers.get("fieldprobe-shape");
      const bytes = (await answer.clone().arrayBuffer()).byteLength;
      const isText = /json|xml|csv/.test(type);
      const text = isText ? shown(await answer.text()) : `${bytes} bytes of ${type}${shape ? `, ${shape}` : ""}`;
      const key = `  "${method} ${address}":`;
      const value = text.includes('"') ? quoted(text) : `"${text.replaceAll("\n", "\\n")}"`;
      // As Biome formats it.
      const fits = key.length + value.length + 2 <= 120;
      lines.push(...(fits ? [`${key} ${value},`] : [key, `    ${value},`]));
    }
    const head =
      "/** Holds the answers to the examples; `npx vitest run test/service/api-examples.test.ts -u` writes them. */\n";
    const table = `export const ANSWERS: Readonly<Record<string, string>> = {\n${lines.join("\n")}\n};\n`;
    await expect(head + table).toMatchFileSnapshot(FILE);
    expect(lines.length).toBeGreaterThan(100);
  }, 60_000);

  it("groups and describes all of them, under our name and without scripts", async () => {
    const answer = await fetch(`${service.url}/api/docs`);
    const page = await answer.text();
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page).toContain("<strong>fieldprobe</strong>");
    expect(page).not.toMatch(/<script|<img|swagger/i);
    for (const [method, address, { summary }] of await operations()) {
      expect(page).toContain(`<code>${method.toUpperCase()} ${address}</code>`);
      expect(summary, address).toBeTruthy();
    }
    const groups = [...page.matchAll(/<h2 id="[^"]*">([^<]*)<\/h2>/g)].map(([, name]) => name);
    expect(groups).toEqual([
      ...[
        "Questions",
        "Datasets",
        "Derivatives at points",
        "Fields at points",
        "Filters at points",
        "Particles",
        "Searches",
      ],
      ...["Slices, volumes and cutouts", "Other"],
    ]);
  });
});
