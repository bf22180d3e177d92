/** Addresses and ids of instances, through the interface. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type Served, scratch, serve } from "../support.js";

let folder: ReturnType<typeof scratch>;
let events: Served;
beforeAll(async () => {
  folder = scratch();
  const start = { dateTime: "2026-11-02T09:00:00" };
  const event = (id: number, members: object) => ({
    id,
    name: "A",
    start,
    end: { dateTime: "2026-11-02T10:00:00" },
    ...members,
  });
  const file = folder.file("a.json", {
    zone: "America/New_York",
    site: "https://e.example",
    events: [
      event(1, { rdate: ["2026-11-02T14:30:00", "2026-11-03T09:00:00"] }),
      event(2, { rdate: ["2026-11-02T14:30:00"], url: "https://e.example/x/2026/11/02/a?lang=en#top" }),
      event(3, { rdate: ["2026-11-03T09:00:00"], url: "https://other.example/talk" }),
      event(4, {
        rrule: "FREQ=DAILY;COUNT=2",
        overrides: [{ original: "2026-11-03T09:00:00", start: { dateTime: "2026-11-02T23:30:00" } }],
      }),
      event(5, { start: { dateTime: "2026-11-02T09:00:00", zone: "Europe/Berlin" }, end: null }),
    ],
  });
  events = await serve({ files: [file] });
});
afterAll(async () => {
  await events.close();
  folder.remove();
});

const instances = async (id: number): Promise<Json[]> =>
  (await events.get(`/events/${id}`)).json._embedded.event_instances;

describe("instances", () => {
  it("carry their date in the address, and the time where two share it", async () => {
    expect((await instances(1)).map(({ url }) => url)).toEqual([
      "https://e.example/events/2026/11/02/a?at=0900",
      "https://e.example/events/2026/11/02/a?at=1430",
      "https://e.example/events/2026/11/03/a",
    ]);
    expect((await instances(2)).map(({ url }) => url)).toEqual([
      "https://e.example/x/2026/11/02/a?lang=en&at=0900#top",
      "https://e.example/x/2026/11/02/a?lang=en&at=1430#top",
    ]);
  });

  it("share an address that has no date in it", async () => {
    expect(new Set((await instances(3)).map(({ url }) => url))).toEqual(new Set(["https://other.example/talk"]));
  });

  it("keep their id when they are moved", async () => {
    const [first, moved] = await instances(4);
    expect([first.id, moved.id]).toEqual(["4-20261102T140000Z", "4-20261103T140000Z"]);
    expect(moved.start.dateTime).toBe("2026-11-02T23:30:00-05:00");
    expect(moved.end.dateTime).toBe("2026-11-03T00:30:00-05:00");
    expect(moved.url).toBe("https://e.example/events/2026/11/02/a?at=2330");
    // It ends after midnight and is therefore on the next day as well.
    expect((await events.get("/events?ids=4&date=2026-11-03")).json._embedded.events[0].instance_id).toBe(moved.id);
  });

  it("are shown in the site's zone, and end when they start if they have no length", async () => {
    const [only] = await instances(5);
    expect(only.start.dateTime).toBe("2026-11-02T03:00:00-05:00");
    expect(only.end).toEqual(only.start);
  });
});
