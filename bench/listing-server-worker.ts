/** A thread that answers as a bucket does whose objects are no datasets: lists of a thousand keys a page. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

const PAGE = 1000;
const keys = workerData as number;

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  if (pathname !== "/cubes" || searchParams.get("list-type") !== "2") {
    response.writeHead(404).end();
    return;
  }
  const first = Number(searchParams.get("continuation-token") ?? 0);
  const count = Math.min(PAGE, keys - first);
  const contents = Array.from({ length: count }, (_, i) => {
    const key = `runs/reynolds-433/snapshot-${String(first + i).padStart(7, "0")}.bin`;
    const facts = "<LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>1048576</Size>";
    return `<Contents><Key>${key}</Key>${facts}<ETag>&quot;${(first + i).toString(16).padStart(32, "0")}&quot;</ETag></Contents>`;
  });
  const next = first + count < keys ? `<NextContinuationToken>${first + count}</NextContinuationToken>` : "";
  response.writeHead(200, { "content-type": "application/xml" });
  response.end(
    `<?xml version="1.0"?><ListBucketResult><EncodingType>url</EncodingType>${contents.join("")}${next}</ListBucketResult>`,
  );
});
server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
