/** Starts the job that a question asks for in its JSON body: the same call again, which may be answered later. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Service } from "../http/service.js";
import { wrong } from "./faults.js";
import type { GivenMembers } from "./read-question.js";

/** Headers of the caller that go with the call. */
const PASSED = ["accept", "authorization", "host", "idempotency-key"] as const;

/** Sends the question to the service itself with `Prefer: respond-async`. */
export async function startJob(
  service: Service,
  request: FastifyRequest,
  reply: FastifyReply,
  body: GivenMembers,
): Promise<FastifyReply> {
  if (!service.jobs) throw wrong("job", "this service has no jobs");
  const [path = "", search = ""] = request.url.split("?", 2);
  const { job: _, ...members } = Object.fromEntries(body);
  const own = PASSED.flatMap((name) =>
    request.headers[name] === undefined ? [] : [[name, String(request.headers[name])] as const],
  );
  const headers = { ...Object.fromEntries(own), prefer: "respond-async", "content-type": "application/json" };
  const url = search === "" ? path : `${path}?${search}`;
  const answer = await reply.server.inject({ method: "POST", url, headers, payload: JSON.stringify(members) });
  for (const name of ["content-type", "location", "preference-applied", "retry-after"]) {
    const value = answer.headers[name];
    if (value !== undefined) reply.header(name, String(value));
  }
  return reply.code(answer.statusCode).send(answer.body);
}
