/** Dependencies are used, of one version, and locked. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

it("lists nothing that no source file imports", () => {
  const sources = ["src", "tools"].flatMap((folder) =>
    readdirSync(new URL(`../../${folder}`, import.meta.url), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => read(`${folder}/${name}`)),
  );
  const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };
  const unused = Object.keys(dependencies).filter((name) => {
    const imported = new RegExp(`(from|import\\(?) ?"${name}["/]`);
    return !sources.some((text) => imported.test(text));
  });
  expect(unused).toEqual([]);
});

it("pins every version exactly", () => {
  for (const file of ["package.json", "docs/package.json"]) {
    const { dependencies, devDependencies } = JSON.parse(read(file)) as Record<string, Record<string, string>>;
    for (const version of Object.values({ ...dependencies, ...devDependencies }))
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  }
});

it("locks what every platform may need, without which a clean install is refused", () => {
  type Packages = Record<string, { optionalDependencies?: Record<string, string> }>;
  const { packages } = JSON.parse(read("package-lock.json")) as { packages: Packages };
  /** Folders from the package itself up to the root, as Node looks for what it imports. */
  const above = (path: string): readonly string[] =>
    path === "" ? [""] : [`${path}/`, ...above(path.replace(/\/?node_modules\/(@[^/]+\/)?[^/]+$/, ""))];
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !above(path).some((folder) => `${folder}node_modules/${name}` in packages),
    ),
  );
  expect(missing).toEqual([]);
});

it("locks the bytes of every package, those of other platforms among them", () => {
  type Packages = Record<string, { integrity?: string; link?: true }>;
  const { packages } = JSON.parse(read("package-lock.json")) as { packages: Packages };
  const unlocked = Object.entries(packages).filter(([, { integrity, link }]) => integrity === undefined && !link);
  expect(unlocked.map(([path]) => path)).toEqual(["", "docs", "web"]);
});
