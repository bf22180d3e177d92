/** The page of `/api` describes every address. */
import { afterAll, describe, expect, it } from "vitest";
import { serveTestData } from "../support/service.js";

const service = await serveTestData();
afterAll(() => service.close());

async function operations(): Promise<(readonly [method: string, address: string, operation: { summary?: string }])[]> {
  const document = (await (await fetch(`${service.url}/api/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { summary?: string; description?: string }>>;
  };
  return Object.entries(document.paths).flatMap(([address, methods]) =>
    Object.entries(methods).map(([method, operation]) => [method, address, operation] as const),
  );
}

describe("the page of /api", () => {
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
    expect(groups).toEqual(["Questions", "Datasets"]);
  });
});
