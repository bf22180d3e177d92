/**
 * fastify with what every service of HTTP has: it reads a point from a body by a regular expression, answers with a
 * text of the same length, and logs the same line. Prints its port.
 */
import Fastify from "fastify";
import { createLog } from "../../dist/log.js";

const POINT = /<x>([^<]*)<\/x><y>([^<]*)<\/y><z>([^<]*)<\/z>/;
const app = Fastify({ loggerInstance: createLog({ logLevel: "info" }), disableRequestLogging: true });
app.addContentTypeParser(/xml/, { parseAs: "string" }, (_request, body, done) => done(null, body));
app.post("/service/turbulence.asmx", (request, reply) => {
  const [, x, y, z] = POINT.exec(request.body as string) ?? [];
  reply.type("text/xml; charset=utf-8");
  return (
    '<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">' +
    '<soap:Body><GetVelocityResponse xmlns="http://turbulence.pha.jhu.edu/"><GetVelocityResult><Vector3>' +
    `<x>${Number(x)}</x><y>${Number(y)}</y><z>${Number(z)}</z></Vector3></GetVelocityResult></GetVelocityResponse>` +
    "</soap:Body></soap:Envelope>"
  );
});
app.addHook("onResponse", (request, reply, done) => {
  const line = {
    client: request.ip,
    method: request.method,
    path: request.routeOptions.url,
    status: reply.statusCode,
    interface: "soap 1.1",
    operation: "GetVelocity",
    dataset: "isotropic32",
    outcome: "ok",
    points: 1,
    token: null,
    bytes: 400,
    queueMs: 0,
    computeMs: 0.1,
    encodeMs: 0.1,
    ms: reply.elapsedTime,
  };
  request.log.info(line);
  done();
});
await app.listen({ host: "127.0.0.1", port: 0 });
const { port } = app.server.address() as { port: number };
process.stdout.write(`${port}\n`);
