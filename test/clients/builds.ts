/** Clients made from our description before they can call: stubs generated, sources compiled, packages fetched. */
import { execFile } from "node:child_process";
import { copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Version } from "../support/soap-service.js";
import { JARS, STRONG_SOAP } from "./packages.js";

/** Not the one that blocks: some fetch the description from a service in this process. */
const run = promisify(execFile);

/** A program and its first words; address, version and calls follow. */
export type Command = readonly [string, ...string[]];
/** Makes a client in an empty folder from the description at an address. */
export type Build = (folder: string, wsdl: string, version: Version) => Promise<Command>;

function bring(source: string, folder: string, name = basename(source)): string {
  copyFileSync(source.startsWith("/") ? source : fileURLToPath(new URL(source, import.meta.url)), join(folder, name));
  return join(folder, name);
}

/** wsdl2h and soapcpp2 make the stubs for a client in C. */
export const gsoap =
  (source: string): Build =>
  async (folder, wsdl) => {
    const inside = { cwd: folder };
    writeFileSync(join(folder, "service.wsdl"), await (await fetch(wsdl)).text());
    bring(source, folder, "client.c");
    await run("wsdl2h", ["-c", "-o", "service.h", "service.wsdl"], inside);
    await run("soapcpp2", ["-c", "-C", "-x", "-L", "service.h"], inside);
    await run("gcc", ["-o", "client", "client.c", "soapC.c", "soapClient.c", "-lgsoap"], inside);
    return [join(folder, "client")];
  };

/** wsimport makes the stubs; its option -extension lets it use the SOAP 1.2 binding, whoever's it is. */
export const jaxws: Build = async (folder, wsdl) => {
  const path = ["jaxws-rt", "jaxws-tools"].map((jar) => `${JARS}/${jar}.jar`).join(":");
  const inside = { cwd: folder };
  const options = ["-quiet", "-extension", "-keep", "-Xnocompile", "-p", "client", "-s", "."];
  await run("java", ["-cp", path, "com.sun.tools.ws.WsImport", ...options, wsdl], inside);
  bring("JaxwsClient.java", folder);
  const stubs = readdirSync(join(folder, "client")).map((name) => join("client", name));
  await run("javac", ["-nowarn", "-cp", path, "JaxwsClient.java", ...stubs], inside);
  return ["java", "-cp", `${path}:${folder}`, "JaxwsClient"];
};

/** wsdl makes a proxy for one version, as the tool of the same name in .NET does. */
export const mono: Build = async (folder, wsdl, version) => {
  const inside = { cwd: folder };
  const protocol = version === "1.1" ? "Soap" : "Soap12";
  await run("wsdl", [`-protocol:${protocol}`, "-out:proxy.cs", wsdl], inside);
  bring("mono_client.cs", folder);
  await run("mcs", ["-r:System.Web.Services", "-out:client.exe", "proxy.cs", "mono_client.cs"], inside);
  return ["mono", join(folder, "client.exe")];
};

export const strongSoap: Build = async (folder) => {
  const options = ["--prefix", folder, "--no-save", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...options, STRONG_SOAP], { cwd: folder });
  return [process.execPath, bring("strong_soap_client.mjs", folder)];
};
