/** Answers in blocks to callers who leave: whenever that is, the sending ends and the blocks are given up. */
import { connect } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { sendBlocks } from "../../../src/server/http/answer.js";
import { startService } from "../../support/soap-service.js";

const BLOCK = Buffer.alloc(48 * 1024, "x");

describe("sendBlocks", () => {
  it.each(["at the head of its connection", "behind an answer that is not out yet"])(
    "ends when the caller leaves before the first byte is sent, %s",
    async (place) => {
      let ended = "";
      let asked = (): void => undefined;
      const request = new Promise<void>((resolve) => {
        asked = resolve;
      });
      const service = await startService(
        {},
        {},
        {
          plugins: [
            (app) => {
              app.get("/never", (_request, reply) => void reply.hijack());
              app.get("/blocks", async (_request, reply) => {
                async function* blocks(): AsyncGenerator<Buffer> {
                  try {
                    yield BLOCK;
                    const left = new Promise((resolve) => reply.raw.once("close", resolve));
                    asked();
                    await left;
                    await turn();
                    for (let i = 0; i < 10; i++) yield BLOCK;
                  } finally {
                    ended += "given up";
                  }
                }
                reply.hijack();
                await sendBlocks(reply, "text/plain", blocks(), "off").catch(() => undefined);
                ended += ", sent";
              });
            },
          ],
        },
      );
      const targets = place.startsWith("at") ? ["/blocks"] : ["/never", "/blocks"];
      const socket = connect(service.port, "127.0.0.1");
      socket.write(targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""));
      await request;
      socket.destroy();
      await expect.poll(() => ended, { timeout: 10_000 }).toBe("given up, sent");
      await service.stop();
    },
  );
});
