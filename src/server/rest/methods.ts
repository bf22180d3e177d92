/** Which methods the paths of the interface take, so that a wrong one is told the right ones. */
import type { FastifyInstance } from "fastify";

/** Notes the routes that are added from now on; the function returned tells the methods of a path, none where there is no route. */
export function watchRoutes(api: FastifyInstance): (path: string) => string[] {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  api.addHook("onRoute", ({ url, method }) => {
    if (url.includes("*")) return;
    const pattern = url.split(/:\w+/).map((part) => part.replace(/[.?+^$()[\]{}|\\]/g, "\\$&"));
    routes.push({ pattern: new RegExp(`^${pattern.join("[^/]+")}$`), methods: [method].flat() });
  });
  return (path) =>
    [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].sort();
}
