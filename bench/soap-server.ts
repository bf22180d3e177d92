/** NullOp as a server of the `soap` package, from our own description. Prints its port. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { listen } from "soap";

interface Request {
  readonly points?: {
    readonly Point3?: readonly { x: string; y: string; z: string }[] | { x: string; y: string; z: string };
  };
}

const NullOp = ({ points }: Request) => {
  const items = points?.Point3 ?? [];
  const list = Array.isArray(items) ? items : [items];
  return { NullOpResult: { Vector3: list.map(({ x, y, z }) => ({ x: Number(x), y: Number(y), z: Number(z) })) } };
};
let wsdl = "";
for await (const part of process.stdin.setEncoding("utf8")) wsdl += part;
const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const port = { NullOp };
  listen(server, {
    path: "/service/turbulence.asmx",
    services: { TurbulenceService: { TurbulenceServiceSoap: port, TurbulenceServiceSoap12: port } },
    xml: wsdl,
  });
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
