/** Calls every operation with strong-soap and prints the numbers: strong_soap_client.mjs URL VERSION ARGUMENTS. */
import { soap } from "strong-soap";

const [url, version, json] = process.argv.slice(2);
const options = { forceSoap12Headers: version === "1.2" };
const client = await new Promise((resolve, reject) => {
  soap.createClient(`${url}?wsdl`, options, (error, made) => (error ? reject(error) : resolve(made)));
});
const port = client.TurbulenceService[version === "1.1" ? "TurbulenceServiceSoap" : "TurbulenceServiceSoap12"];
const answers = {};
for (const [operation, members] of Object.entries(JSON.parse(json))) {
  const given = { ...members };
  for (const [name, item] of [
    ["points", "Point3"],
    ["InitialV", "Vector3"],
  ]) {
    if (given[name]) given[name] = { [item]: given[name].map(([x, y, z]) => ({ x, y, z })) };
  }
  const { result } = await port[operation](given);
  const records = Object.values(result[`${operation}Result`])[0];
  answers[operation] = records.map((record) =>
    (typeof record === "object" ? Object.values(record) : [record]).map(Number),
  );
}
console.log(JSON.stringify(answers));
