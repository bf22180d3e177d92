/**
 * fastify with what every service of HTTP has: it reads a point from a body by a regular expression, answers with a
 * text of the same length, and logs the same line. Prints its port.
 */
import Fastify from "fastify";
import { createLog } from "../../dist/server/http/log.js";

const POINT = /<x>([^<]*)<\/x><y>([^<]*)<\/y><z>([^<]*)<\/z>/;
const FACTS = { interface: "soap 1.1", operation: "GetVelocity", dataset: "isotropic32", outcome: "ok", points: 1 };
const FIGURES = { token: null, bytes: 400, queueMs: 0, computeMs: 0.1, encodeMs: 0.1 };
const HEAD =
  '<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>' +
  '<GetVelocityResponse xmlns="http://turbulence.pha.jhu.edu/"><GetVelocityResult>';
const TAIL = "</GetVelocityResult></GetVelocityResponse></soap:Body></soap:Envelope>";
const app = Fastify({ loggerInstance: createLog({ logLevel: "info" }), disableRequestLogging: true });
app.addContentTypeParser(/xml/, { parseAs: "string" }, (_request, body, done) => done(null, body));
app.post("/service/turbulence.asmx", (request, reply) => {
  const [x, y, z] = (POINT.exec(request.body as string) ?? []).slice(1).map(Number);
  reply.type("text/xml; charset=utf-8");
  return `${HEAD}<Vector3><x>${x}</x><y>${y}</y><z>${z}</z></Vector3>${TAIL}`;
});
app.addHook("onResponse", async (request, { statusCode: status, elapsedTime: ms }) => {
  const { ip: client, method, routeOptions } = request;
  request.log.info({ client, method, path: routeOptions.url, status, ...FACTS, ...FIGURES, ms });
});
await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${(app.server.address() as { port: number }).port}\n`);
