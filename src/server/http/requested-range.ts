/** Reads the byte range that a request wants. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { HttpRefusal } from "./refusal.js";

/**
 * The first and the last requested byte by the `Range` header; sets status and headers. All bytes for several ranges,
 * another version than `If-Range` names, and methods other than GET.
 * @throws HttpRefusal 416 of a range beyond the end
 */
export function requestedRange(
  { headers, method }: Pick<FastifyRequest, "headers" | "method">,
  reply: FastifyReply,
  tag: unknown,
  size: number,
): readonly [first: number, last: number] {
  const condition = headers["if-range"];
  const isRequested = method === "GET" && (condition === undefined || condition === tag);
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec((isRequested && headers.range) || "") ?? [];
  const first = from === "" && to !== "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  reply.header("accept-ranges", "bytes");
  if (from !== "" || to !== "") {
    if (first > last) throw new HttpRefusal(416, `There are ${size} bytes.`, { "content-range": `bytes */${size}` });
    reply.code(206).header("content-range", `bytes ${first}-${last}/${size}`);
  }
  reply.header("content-length", String(last - first + 1));
  return [first, last];
}
