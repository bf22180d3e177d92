/** Addresses of the loopback interface that are free, for processes that have to know each other before they start. */
import { once } from "node:events";
import { createServer } from "node:net";

/** So many of them; others may take them until they are used. */
export async function freeAddresses(count: number): Promise<string[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    }),
  );
  const addresses = servers.map((server) => `127.0.0.1:${(server.address() as { port: number }).port}`);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return addresses;
}
