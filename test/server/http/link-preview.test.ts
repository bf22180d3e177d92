/** Links unfurl by a title and a picture that the service answers; of datasets that need a token nothing is said. */
import { expect, it } from "vitest";
import { previewOf } from "../../../src/server/http/link-preview.js";
import type { Service } from "../../../src/server/http/service.js";
import { useTestData } from "../../support/service.js";

const service = await useTestData();

const contentOf = (tags: string, property: string) =>
  new RegExp(`property="${property}" content="([^"]*)"`)
    .exec(tags)?.[1]
    ?.replaceAll("&amp;", "&")
    .replaceAll("&lt;", "<");

const AXIS = { nodes: 8, origin: 0, spacing: 0.5, coordinates: null };
const DATASET = {
  ...{ name: "flow", title: 'A "flow"', axes: [AXIS, AXIS, AXIS], fields: { velocity: {} } },
  time: { count: 3, guardBefore: 0, guardAfter: 0, origin: 0, step: 1 },
};
const fake = (config: object) =>
  ({
    config,
    engine: { find: (name: string) => (name === "flow" ? DATASET : undefined) },
    baseUrl: () => "http://a",
  }) as unknown as Service;

it("has a picture of the plane that a link shows", async () => {
  const link = "what=Q&x=1&y=2&z=3.125&time=1&view.show=slice%3Ax";
  const tags = previewOf(fake({ tokens: null }), "flow", link);
  expect(contentOf(tags, "og:title")).toBe("Q at x = 1, t = 1 · flow");
  const image = new URL(contentOf(tags, "og:image") as string);
  expect(Object.fromEntries(image.searchParams)).toEqual({
    ...{ what: "Q", x: "1", time: "1", samples: "128", format: "png", map: "magma" },
  });
  const answer = await fetch(`${service.url}${image.pathname.replace("flow", "isotropic32")}${image.search}`);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
  const png = Buffer.from(await answer.arrayBuffer());
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([128, 128]);
});

it("takes no markup from links", () => {
  const tags = previewOf(fake({ tokens: null }), "flow", 'what="><script>&z=x');
  expect(tags).not.toContain("<script");
  expect(contentOf(tags, "og:title")).toBe("&quot;><script> at z = 2, t = 1 · flow".replaceAll(">", "&gt;"));
});

it("says nothing of datasets that are not there or not open to all", () => {
  expect(previewOf(fake({ tokens: null }), "other", "")).toBe("");
  expect(previewOf(fake({ tokens: "tokens.json", anonymous: false }), "flow", "")).toBe("");
  expect(previewOf(fake({ tokens: "tokens.json", anonymous: true }), "flow", "")).toContain("og:image");
});
