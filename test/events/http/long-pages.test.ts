/** Pages of megabytes: made in slices, wrapped as they are sent, one after the other. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wrapJsonp } from "../../../src/events/http/jsonp.js";
import { OneByOne } from "../../../src/events/http/resources.js";
import { type Served, scratch, seconds, serve } from "../support.js";

const NOW = seconds("2026-11-10T17:00:00Z");
const PAGE = "/events?single_events=false&per_page=100";

describe("five series of 2000 instances", () => {
  const folder = scratch();
  let served: Served;
  beforeAll(async () => {
    const rule = {
      start: { dateTime: "2026-11-11T00:00:00" },
      rrule: "FREQ=HOURLY",
      excerpt: "<\u2028\u00e9\ud83d\ude00>",
    };
    const events = Array.from({ length: 5 }, (_, n) => ({ id: n + 1, name: `Watch ${n}`, ...rule }));
    served = await serve({ files: [folder.file("dense.json", { events })], now: NOW });
  });
  afterAll(async () => {
    await served.close();
    folder.remove();
  });

  it("are sent with the length and tag of their bytes, and as a script that is wrapped as it is sent", async () => {
    const { text, json, headers } = await served.get(PAGE);
    expect(text).toBe(JSON.stringify(json));
    expect(text.length).toBeGreaterThan(1 << 20);
    expect(Number(headers.get("content-length"))).toBe(Buffer.byteLength(text));
    expect(headers.get("etag")).toBe(`"${createHash("sha1").update(text).digest("base64url")}"`);
    for (const event of json._embedded.events) {
      const alone = (await served.get(`/events/${event.id}`)).json;
      expect(event._embedded.event_instances).toEqual(alone._embedded.event_instances);
      expect(alone._embedded.event_instances).toHaveLength(2000);
    }
    const script = await served.get(`${PAGE}&callback=a.b`);
    expect(script.text).toBe([...wrapJsonp("a.b", [text])].join(""));
    const tag = script.headers.get("etag") as string;
    expect(tag).not.toBe(headers.get("etag"));
    expect((await served.get(`${PAGE}&callback=a.b`, { "if-none-match": tag })).status).toBe(304);
    expect((await served.get(`${PAGE}&callback=a.c`)).headers.get("etag")).not.toBe(tag);
  });

  it("leave the event loop to others while they are made", async () => {
    let turns = 0;
    let asking = true;
    const count = () => {
      turns += 1;
      if (asking) setImmediate(count);
    };
    setImmediate(count);
    await served.app.inject(PAGE);
    asking = false;
    expect(turns).toBeGreaterThanOrEqual(5);
  });
});

describe("long bodies", () => {
  it("are made one after the other, and refused when 64 wait", async () => {
    const line = new OneByOne();
    let running = 0;
    const make = async () => {
      running += 1;
      await new Promise((resolve) => setImmediate(resolve));
      expect(running).toBe(1);
      running -= 1;
      return "made";
    };
    const failing = expect(line.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    const made = await Promise.allSettled(Array.from({ length: 70 }, () => line.run(make)));
    await failing;
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(63);
    for (const one of made.slice(63))
      expect(one).toMatchObject({ reason: { status: 503, headers: { "retry-after": "1" } } });
    expect(await line.run(make)).toBe("made");
  });
});
