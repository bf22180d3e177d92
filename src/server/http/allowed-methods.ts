/** Methods of each path of an interface, for answers of 405 and `Allow`. */
import type { FastifyInstance } from "fastify";

/** A parameter of a route, with the expression it must match. */
const PARAMETER = /:\w+(?:\(\^?([^()]*?)\$?\))?/;

/** Records routes that are added to `scope` from now on, but not wildcards. Returns sorted methods of a path. */
export function watchRoutes(scope: FastifyInstance): (path: string) => string[] {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  scope.addHook("onRoute", ({ url, method }) => {
    if (!url.includes("*")) routes.push({ pattern: patternOf(url), methods: [method].flat() });
  });
  return (path) =>
    [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].sort();
}

function patternOf(url: string): RegExp {
  // Text between parameters at even positions, expressions at odd ones.
  const parts = url.split(PARAMETER);
  const source = parts.map((part, i) => (i % 2 === 1 ? (part ?? "[^/]+") : part.replace(/[.?+^$()[\]{}|\\]/g, "\\$&")));
  return new RegExp(`^${source.join("")}$`);
}
