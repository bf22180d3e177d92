/** The force of the shipped channel is the one that balances its mean pressure gradient. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { soapRecords } from "../support/operation-questions.js";
import { useTestData } from "../support/service.js";

const service = await useTestData([fileURLToPath(new URL("../../data/turbulent-channel", import.meta.url))]);

it("GetForce and cutouts of the force answer 1 along x at any point and time", async () => {
  const points = [
    [0, -1, 0],
    [1, 0.5, 7],
  ];
  const asked = { time: 0.1, spatialInterpolation: "None", temporalInterpolation: "None", points };
  expect(await soapRecords(service.url, "turbulent-channel", "GetForce", asked)).toEqual(points.map(() => [1, 0, 0]));
  const box = "function=force&dataset=turbulent-channel&xs=1&xe=2&ys=49&ye=49&zs=1&ze=1&ts=1&te=1";
  const cutout = await (await fetch(`${service.url}/cutout/api/local?${box}`)).json();
  expect(cutout.data_vars.force_0001.data.flat(3)).toEqual([1, 0, 0, 1, 0, 0]);
});
