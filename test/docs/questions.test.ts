/**
 * A reader finds the answers to questions on the site: by one search in plain words, and by two clicks. The search is
 * that of the built site, `npm run docs:site`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import MiniSearch from "minisearch";
import { beforeAll, describe, expect, it } from "vitest";
import { PLACES } from "../../docs/.vitepress/contents.js";
import { SEARCH } from "../../docs/.vitepress/search.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SITE = join(ROOT, "dist/site");
/** How many results a reader looks at. */
const LOOKED_AT = 3;

/** What a reader types, and the page that answers it. */
const QUESTIONS: readonly (readonly [typed: string, page: string])[] = [
  ["load my own HDF5 cube", "datasets"],
  ["my NetCDF file is not read", "datasets"],
  ["box is periodic but the file does not say", "datasets"],
  ["how do I ask for the velocity at a point from python", "python"],
  ["choose the interpolation", "operations"],
  ["which method is most accurate", "accuracy"],
  ["compute vorticity", "analysis"],
  ["download a cutout", "clients"],
  ["open in xarray", "clients"],
  ["call it from matlab", "clients"],
  ["make a spectrum", "analysis"],
  ["structure functions", "analysis"],
  ["mean velocity profile", "analysis"],
  ["subgrid stress tensor", "operations"],
  ["follow particles", "tracking"],
  ["giverny notebook", "python"],
  ["different values than JHTDB", "differences"],
  ["run behind nginx", "reverse-proxy"],
  ["https certificate", "reverse-proxy"],
  ["limit a user", "operating"],
  ["what does this error mean", "operating"],
  ["error 503", "operating"],
  ["how much memory do I need", "operating"],
  ["docker", "operating"],
  ["update to a new version", "operating"],
  ["data in an s3 bucket", "sources"],
  ["my query takes too long", "jobs"],
  ["use several machines", "cluster"],
  ["figure for a paper", "start"],
  ["how to cite", "index"],
];

let search: MiniSearch;
/** Pages that each question of docs/questions.md leads to, by the heading. */
const leads = new Map<string, readonly string[]>();

/** The name of a page on the site, by its place or by its path in the repository. */
const pageOf = (path: string): string => path.replace(/(\.md|\.html)?(#.*)?$/, "");

beforeAll(async () => {
  const chunks = join(SITE, "assets/chunks");
  const [file] = existsSync(chunks) ? readdirSync(chunks).filter((name) => name.startsWith("@localSearchIndex")) : [];
  if (file === undefined) throw new Error("The site is not built: npm run docs:site");
  const { default: index } = (await import(pathToFileURL(join(chunks, file)).href)) as { default: string };
  const fields = ["title", "titles", "text"];
  search = MiniSearch.loadJSON(index, { fields, storeFields: ["title"], searchOptions: SEARCH });
  for (const section of readFileSync(join(ROOT, "docs/questions.md"), "utf8").split(/^### /m).slice(1)) {
    const [title = ""] = section.split("\n");
    const links = [...section.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link.replace(/^\.\.\/|#.*$/g, ""));
    leads.set(
      title,
      links.map((link) => pageOf(PLACES[link] ?? link)),
    );
  }
});

describe("search", () => {
  it.each(QUESTIONS)("%s: %s", (typed, page) => {
    const results = search.search(typed).slice(0, LOOKED_AT);
    const pages = results.flatMap(({ id, title }) => {
      const place = pageOf(String(id).replace(/^\/docs\//, "")) || "index";
      return place === "questions" ? [place, ...(leads.get(String(title)) ?? [])] : [place];
    });
    expect(pages, results.map(({ id }) => id).join(", ")).toContain(page);
  });
});

describe("clicks", () => {
  it("lead from every page to the questions, and from there to all answers", () => {
    const sidebar = readFileSync(join(SITE, "index.html"), "utf8");
    expect(sidebar).toContain('href="/docs/questions.html"');
    const answers = new Set(QUESTIONS.map(([, page]) => page));
    const away = [...answers].filter(
      (page) => ![...leads.values()].flat().includes(page) && !sidebar.includes(`href="/docs/${page}.html"`),
    );
    expect(away).toEqual(["index"]);
    expect(leads.size).toBeGreaterThanOrEqual(20);
  });
});
