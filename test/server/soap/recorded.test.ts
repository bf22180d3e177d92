/** Requests as .NET and MATLAB clients write them, replayed; and the answer read as a MATLAB client does it. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { fakeValue } from "../../support/fake-engine.js";
import { readRecords, send, useService } from "../../support/soap-service.js";

const service = useService();

const recorded = (name: string): Buffer => readFileSync(new URL(`recorded/${name}`, import.meta.url));
const ACTION = "http://turbulence.pha.jhu.edu/GetVelocity";
const EXPECTED = [0.5, 3].map((x) => [0, 1, 2].map((component) => fakeValue("GetVelocity", x, 0, component)));

it.each([
  ["dotnet-soap11.xml", "1.1", { "content-type": "text/xml; charset=utf-8", soapaction: `"${ACTION}"` }],
  ["dotnet-soap12.xml", "1.2", { "content-type": `application/soap+xml; charset=utf-8; action="${ACTION}"` }],
  ["matlab-soap11.xml", "1.1", { "content-type": "text/xml; charset=utf-8", soapaction: ACTION }],
] as const)("%s is answered", async (name, version, headers) => {
  const answer = await send(service, version, recorded(name), headers);
  expect(readRecords(answer, "GetVelocity").map(({ values }) => values.map(Math.fround))).toEqual(EXPECTED);
  expect(service.engine.queries.at(-1)).toMatchObject({ dataset: "isotropic32", time: Math.fround(0.364) });
});

it("R92a: regular expressions find the numbers, and as many as there are points", async () => {
  const { text } = await send(service, "1.1", recorded("matlab-soap11.xml"));
  const columns = ["x", "y", "z"].map((name) =>
    [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, "g"))].map((match) => Math.fround(Number(match[1]))),
  );
  expect(columns).toEqual([0, 1, 2].map((component) => EXPECTED.map((record) => record[component])));
  expect(text.match(/<GetVelocityResult>.*<\/GetVelocityResult>/)).toHaveLength(1);
});
