/**
 * GetVelocity with the `soap` package: node typescript.ts
 * (before Node 22.18: node --input-type=module < typescript.ts)
 *
 * For the public service, change only URL, the token and the name of the dataset.
 */
import { createClientAsync } from "soap";

const URL = process.argv[2] ?? "http://127.0.0.1:8080/service/turbulence.asmx?wsdl";

const client = await createClientAsync(URL);
const [answer] = await client.GetVelocityAsync({
  authToken: "my-token",
  dataset: "isotropic32",
  time: 0.1,
  spatialInterpolation: "Lag8",
  temporalInterpolation: "PCHIP",
  points: { Point3: [{ x: 1, y: 2, z: 3 }] },
});
for (const { x, y, z } of answer.GetVelocityResult.Vector3) console.log(x, y, z);
