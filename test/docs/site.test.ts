/** The site of the documents lists every page, and its examples are the requests that their commands make. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { CONTENTS, PLACES } from "../../docs/.vitepress/contents.js";
import { requestOf, serviceOf, wordsOf } from "../../docs/.vitepress/example-request.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const listed = CONTENTS.flatMap(({ items }) => items.map(([link]) => link));

describe("contents", () => {
  it("list each document of docs once", () => {
    const documents = readdirSync(join(ROOT, "docs"))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `/${(PLACES[`docs/${name}`] ?? name).replace(/\.md$/, "")}`);
    expect(documents.filter((place) => !listed.includes(place))).toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
  });
});

describe("examples", () => {
  it("are read as a shell reads them, and commands that do more are none", () => {
    expect(wordsOf("curl -s 'a b' \\\n  -H \"c: d\"")).toEqual(["curl", "-s", "a b", "-H", "c: d"]);
    for (const more of ["curl a | jq", "curl a\ncurl b", "curl $URL", "curl 'a"]) expect(wordsOf(more)).toBeNull();
  });

  it("are requests to the service, with method, headers and body", () => {
    const command = "curl -s http://127.0.0.1:8080/api/x -H 'Content-Type: application/json' --data '\n{\"a\": 1}'\n";
    expect(requestOf(command)).toEqual({
      url: "/api/x",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '\n{"a": 1}',
    });
    expect(requestOf("curl 'http://localhost:8080/b?c=1'")?.method).toBe("GET");
    const query = "curl -sG http://127.0.0.1:8080/api/x --data-urlencode 'what=a+b, c' --data-urlencode time=0.5";
    expect(requestOf(query)).toMatchObject({ url: "/api/x?what=a%2Bb%2C%20c&time=0.5", method: "GET", body: null });
    for (const other of [
      "npm start",
      "curl http://127.0.0.1:8080/ --data-urlencode a=1",
      "curl https://example.com/",
      "curl -o f http://127.0.0.1:8080/",
      "curl -d @f http://127.0.0.1:8080/",
    ]) {
      expect(requestOf(other)).toBeNull();
    }
  });

  it("cover those of the documents that print their answer", () => {
    const texts = ["README.md", "docs/clients.md", "docs/analysis.md", "docs/tracking.md"].map((name) =>
      readFileSync(join(ROOT, name), "utf8"),
    );
    const commands = texts.flatMap((text) =>
      [...text.matchAll(/```sh\n(curl[^`]*)```/g)].map(([, block]) => block as string),
    );
    expect(commands.length).toBeGreaterThan(10);
    expect(commands.filter((command) => requestOf(command) === null && !/ -o | \||@/.test(command))).toEqual([]);
  });

  it("go to the service of the page, below its path, or to a local one", () => {
    expect(serviceOf({ origin: "https://a.org", pathname: "/b/docs/jobs.html" })).toBe("https://a.org/b");
    expect(serviceOf({ origin: "https://site.org", pathname: "/jobs.html" })).toBe("http://127.0.0.1:8080");
  });
});
