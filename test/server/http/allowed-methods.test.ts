/** The methods that each path of an interface takes. */
import Fastify from "fastify";
import { describe, expect, it } from "vitest";
import { watchRoutes } from "../../../src/server/http/allowed-methods.js";

describe("the methods of a path", () => {
  const app = Fastify({ exposeHeadRoutes: false });
  const before = () => undefined;
  app.delete("/a", before);
  const methodsOf = watchRoutes(app);
  app.get("/a", before);
  app.post("/a", before);
  app.get("/a/:id(^[0-9]{1,3}$)/b", before);
  app.get("/a/:id(^[0-9]{1,3}$).ics", before);
  app.put("/b/:name", before);
  app.get("/c/*", before);

  it.each([
    ["/a", ["GET", "POST"]],
    ["/a/", []],
    ["/a/12/b", ["GET"]],
    ["/a/1234/b", []],
    ["/a/x/b", []],
    ["/a/7.ics", ["GET"]],
    ["/a/7xics", []],
    ["/b/any-thing", ["PUT"]],
    ["/b/a/b", []],
    ["/c/x", []],
    ["/", []],
  ])("%s takes %j", (path, expected) => {
    expect(methodsOf(path)).toEqual(expected);
  });
});
