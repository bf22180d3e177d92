/** Items in progress are kept until they end, and a drain waits for them. */
import { describe, expect, it } from "vitest";
import { InProgress } from "../../../src/engine/main/drain.js";

describe("items in progress", () => {
  it("are those that have not ended, in whatever order they end", () => {
    const items = new InProgress<string>();
    const places = new Map(["a", "b", "c"].map((name) => [name, items.add(name)]));
    items.delete(places.get("b") as number);
    expect([...items].sort()).toEqual(["a", "c"]);
    items.add("d");
    items.delete(places.get("a") as number);
    items.delete(places.get("c") as number);
    expect([...items]).toEqual(["d"]);
  });

  it("end a drain with the last of them", async () => {
    const items = new InProgress<string>();
    expect(await items.drain(0)).toBe(true);
    const places = [items.add("a"), items.add("b")] as const;
    const drained = items.drain(60_000);
    for (const place of places) items.delete(place);
    expect(await drained).toBe(true);
    items.add("c");
    expect(await items.drain(0)).toBe(false);
  });
});
