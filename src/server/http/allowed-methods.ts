/** Collects the methods that each path of an interface takes, for answers of 405 and `Allow`. */
import type { FastifyInstance } from "fastify";

/** A parameter in the pattern of a route, with the expression it must match if it has one. */
const PARAMETER = /:\w+(?:\(\^?([^()]*?)\$?\))?/;

/**
 * Notes the routes that are added to `scope` from now on; those with a wildcard are ignored.
 *
 * @returns the sorted methods of a path, prefix included; none if there is no route
 */
export function watchRoutes(scope: FastifyInstance): (path: string) => string[] {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  scope.addHook("onRoute", ({ url, method }) => {
    if (!url.includes("*")) routes.push({ pattern: patternOf(url), methods: [method].flat() });
  });
  return (path) =>
    [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].sort();
}

function patternOf(url: string): RegExp {
  // The text between parameters is at even places, their expressions at odd ones.
  const parts = url.split(PARAMETER);
  const source = parts.map((part, i) => (i % 2 === 1 ? (part ?? "[^/]+") : part.replace(/[.?+^$()[\]{}|\\]/g, "\\$&")));
  return new RegExp(`^${source.join("")}$`);
}
