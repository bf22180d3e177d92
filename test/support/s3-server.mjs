/** A thread that runs an S3-compatible server of the package registry. */
import { parentPort, workerData } from "node:worker_threads";
import S3rver from "s3rver";

const { directory, bucket } = workerData;
const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory,
  configureBuckets: [{ name: bucket, configs: [] }],
});
const { port } = await server.run();
parentPort.postMessage(port);
