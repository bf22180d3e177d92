/** Runs the steps of a computing request, from its arrival to the last byte of its answer. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "../../shared/operations.js";
import { RequestLife } from "./request-life.js";
import type { Service } from "./service.js";

/**
 * Runs the steps of a computing request from its arrival on. @param operation null if the steps determine and record it
 * @param caller name of the interface, for log and counters, and the token of the request
 * @throws HttpRefusal, AuthError, LimitError `token.concurrent` on arrival, and errors of the steps while an answer is
 * possible
 */
export async function compute(
  service: Service,
  operation: Pick<Operation, "name"> | null,
  request: FastifyRequest,
  reply: FastifyReply,
  steps: (life: RequestLife) => Promise<FastifyReply>,
  caller = { name: "api", token: tokenOf(request) },
): Promise<FastifyReply> {
  const life = new RequestLife(service, request, reply, caller.name);
  if (operation !== null) request.facts.operation = operation.name;
  try {
    life.authorise(caller.token);
    return await life.run(() => steps(life));
  } catch (error) {
    if (life.abandonIfUnanswerable(error)) return reply;
    throw error;
  }
}

/** The token of a request from `Authorization: Bearer`; null without that header. Other schemes are unknown tokens. */
export function tokenOf(request: FastifyRequest): string | null {
  const header = request.headers.authorization;
  if (header === undefined) return null;
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? header;
}
