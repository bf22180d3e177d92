/** The page of `/api` describes every address. */
import { expect, it } from "vitest";
import { useTestData } from "../support/service.js";

const service = await useTestData();

type Methods = Record<string, { summary?: string }>;

async function operations() {
  const answer = await fetch(`${service.url}/api/openapi.json`);
  const { paths } = (await answer.json()) as { paths: Record<string, Methods> };
  return Object.entries(paths).flatMap(([address, methods]) =>
    Object.entries(methods).map(([method, operation]) => [method, address, operation] as const),
  );
}

it("groups and describes all of /api on a page under our name, without scripts", async () => {
  const answer = await fetch(`${service.url}/api/docs`);
  const page = await answer.text();
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  for (const text of ["<strong>fieldprobe</strong>", `curl -s '${service.url}/api/datasets'`])
    expect(page).toContain(text);
  expect(page).not.toMatch(/<script|<img|swagger/i);
  for (const [method, address, { summary }] of await operations()) {
    expect(page).toContain(`<code>${method.toUpperCase()} ${address}</code>`);
    expect(summary, address).toBeTruthy();
  }
  const groups = [...page.matchAll(/<h2 id="[^"]*">([^<]*)<\/h2>/g)].map(([, name]) => name);
  expect(groups).toEqual(["Questions", "Datasets"]);
});
