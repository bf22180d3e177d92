/** Refusals of the service as the page shows them. */
import { afterEach, expect, it, vi } from "vitest";
import { fetchCatalogue, fetchSlice, setToken } from "../../../src/web/state/api.js";

afterEach(() => {
  setToken("");
  vi.unstubAllGlobals();
});

it("asks for a token where none was given, and shows what the service says of a wrong one", async () => {
  const detail = "Disabled identification token.";
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" });
  vi.stubGlobal("fetch", async () => Response.json({ code: "AuthenticationFailed", detail }, { status: 401 }));
  await expect(fetchCatalogue()).rejects.toMatchObject({
    status: 401,
    code: "AuthenticationFailed",
    message: "This service asks for a token: put yours into the field at the top.",
  });
  setToken("old");
  await expect(fetchCatalogue()).rejects.toThrow(detail);
});

it("says that nobody answers, and leaves what was cancelled to those who cancelled it", async () => {
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" });
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("Failed to fetch")));
  await expect(fetchCatalogue()).rejects.toMatchObject({ code: "Network", message: "The service cannot be reached." });
  const gone = new DOMException("aborted", "AbortError");
  vi.stubGlobal("fetch", async () => Promise.reject(gone));
  await expect(fetchSlice("api/x", AbortSignal.abort())).rejects.toBe(gone);
});

it("asks again where a token may run few requests at a time, and not for ever", async () => {
  vi.useFakeTimers();
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1/" });
  const busy = { code: "LimitExceeded", limit: "token.concurrent", detail: "This token may run 2 requests at a time." };
  let asked = 0;
  vi.stubGlobal("fetch", async () => (++asked % 4 === 0 ? Response.json({}) : Response.json(busy, { status: 429 })));
  const answer = fetchCatalogue();
  await vi.runAllTimersAsync();
  expect(await answer).toEqual({});
  expect(asked).toBe(4);
  vi.stubGlobal("fetch", async () => Response.json(busy, { status: 429 }));
  const never = expect(fetchCatalogue()).rejects.toThrow(busy.detail);
  await vi.runAllTimersAsync();
  await never;
  vi.useRealTimers();
});
