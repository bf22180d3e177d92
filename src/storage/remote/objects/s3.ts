/** Addresses and signatures for S3 and compatible stores, from the variables and files of AWS. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { AwsClient } from "aws4fetch";
import { parse } from "ini";
import { DataError, orElse } from "../../../shared/errors.js";
import type { Sign } from "./remote-objects.js";

type Environment = Readonly<Record<string, string | undefined>>;
type Profile = Readonly<Record<string, string | undefined>>;

/** Variables of Google's clients, in place of AWS variables. */
const GOOGLE_NAMES: Readonly<Record<string, string>> = {
  AWS_ENDPOINT_URL: "STORAGE_EMULATOR_HOST",
  AWS_ACCESS_KEY_ID: "GS_ACCESS_KEY_ID",
  AWS_SECRET_ACCESS_KEY: "GS_SECRET_ACCESS_KEY",
};
const CREDENTIALS = {
  accessKeyId: ["AWS_ACCESS_KEY_ID", "aws_access_key_id"],
  secretAccessKey: ["AWS_SECRET_ACCESS_KEY", "aws_secret_access_key"],
  sessionToken: ["AWS_SESSION_TOKEN", "aws_session_token"],
} as const;
/** Other characters would be refused in a header, by a message that shows the key. */
const CREDENTIAL = /^[\x21-\x7e]+$/;
/** Time after which the files of credentials are read again. */
const CREDENTIALS_MS = 60_000;

export interface S3Place {
  readonly bucket: string;
  readonly prefix: string;
  readonly key: string;
  readonly sign: Sign;
}

/**
 * The bucket and prefix of `s3://bucket/prefix`. Credentials come from the variables of AWS, else from the profile
 * `AWS_PROFILE` (or `default`); without any, requests are not signed. An empty variable counts as none.
 * @throws DataError that names the malformed or missing address, variable or setting
 */
export function s3Place(location: string, environment: Environment = process.env): S3Place {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  if (!/^gs:/i.test(location)) return bucketPlace(location, set, (variable) => variable);
  return bucketPlace(location, googleEnvironment(set), (variable) => GOOGLE_NAMES[variable] ?? variable);
}

/**
 * Google Cloud Storage through its S3 interface, with the variables of its own clients. The files of AWS do not count.
 * Source: Google Cloud documentation, "Simple migration from Amazon S3"; GDAL, "/vsigs/".
 */
function googleEnvironment(environment: Environment): Environment {
  return {
    ...Object.fromEntries(Object.entries(GOOGLE_NAMES).map(([name, google]) => [name, environment[google]])),
    AWS_ENDPOINT_URL: environment.STORAGE_EMULATOR_HOST ?? "https://storage.googleapis.com",
    AWS_REGION: "auto",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_CONFIG_FILE: "/dev/null",
  };
}

/** @param nameOf the caller's name of a variable */
function bucketPlace(location: string, environment: Environment, nameOf: (variable: string) => string): S3Place {
  const { host: bucket, pathname } = new URL(location);
  const path = plainPath(location, pathname);
  if (!/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/.test(bucket)) throw new DataError(`${location} does not name a bucket`);
  const key = path.replace(/^\/+|\/+$/g, "");
  const profile = profileOf(environment);
  const region = environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION ?? profile.region ?? "us-east-1";
  const endpoint = environment.AWS_ENDPOINT_URL_S3 ?? environment.AWS_ENDPOINT_URL ?? profile.endpoint_url;
  checkEndpoint(endpoint, nameOf("AWS_ENDPOINT_URL"));
  checkCredentials(environment, profile, nameOf);
  const base =
    endpoint === undefined
      ? `https://${bucket}.s3.${region}.amazonaws.com`
      : `${endpoint.replace(/\/+$/, "")}/${bucket}`;
  const written = key.split("/").map(encodeURIComponent).join("/");
  return {
    bucket: base,
    prefix: written === "" ? base : `${base}/${written}`,
    key,
    sign: signature(environment, region),
  };
}

/** The decoded path of an address. Throws DataError for a percent sign that encodes no character. */
export function plainPath(location: string, path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new DataError(`${location}: a % must begin a character such as %20; write %25 for the sign itself`);
  }
}

function checkEndpoint(endpoint: string | undefined, variable: string): void {
  if (endpoint !== undefined && !(/^https?:\/\//.test(endpoint) && URL.canParse(endpoint)))
    throw new DataError(
      `${variable} is "${endpoint}", which is not an address: write http:// or https:// before the host`,
    );
}

/** @throws DataError for characters other than printable ASCII, and for one half of a pair */
function checkCredentials(environment: Environment, profile: Profile, nameOf: (variable: string) => string): void {
  const { accessKeyId, secretAccessKey, ...rest } = credentialsOf(environment, profile);
  const isOfProfile = !hasKeys(environment);
  const name = (credential: keyof typeof CREDENTIALS) => {
    const [variable, setting] = CREDENTIALS[credential];
    return isOfProfile ? `${setting} of the AWS profile` : nameOf(variable);
  };
  for (const [credential, value] of Object.entries({ accessKeyId, secretAccessKey, ...rest }))
    if (value !== undefined && !CREDENTIAL.test(value))
      throw new DataError(
        `${name(credential as keyof typeof CREDENTIALS)} has a character that no credential has, such as a blank or a line break`,
      );
  const names = [name("accessKeyId"), name("secretAccessKey")];
  if (accessKeyId === undefined) names.reverse();
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw new DataError(`${names[0]} is set, but not ${names[1]}: set both, or none for a public bucket`);
}

function hasKeys(environment: Environment): boolean {
  return (environment.AWS_ACCESS_KEY_ID ?? environment.AWS_SECRET_ACCESS_KEY) !== undefined;
}

/** Credentials from the variables, else from the profile, never mixed. */
function credentialsOf(
  environment: Environment,
  profile: Profile,
): Record<keyof typeof CREDENTIALS, string | undefined> {
  const isOfProfile = !hasKeys(environment);
  const found = (name: keyof typeof CREDENTIALS): string | undefined => {
    const [variable, setting] = CREDENTIALS[name];
    return (isOfProfile ? profile[setting] : environment[variable]) || undefined;
  };
  return {
    accessKeyId: found("accessKeyId"),
    secretAccessKey: found("secretAccessKey"),
    sessionToken: found("sessionToken"),
  };
}

/** Reads the credentials of files again: other programs renew them. */
function signature(environment: Environment, region: string): Sign {
  let readAt = Number.NEGATIVE_INFINITY;
  let sign: Sign;
  return (request) => {
    const now = performance.now();
    if (now - readAt > CREDENTIALS_MS) {
      sign = signatureNow(environment, profileOf(environment), region);
      readAt = now;
    }
    return sign(request);
  };
}

function signatureNow(environment: Environment, profile: Profile, region: string): Sign {
  const { accessKeyId, secretAccessKey, sessionToken } = credentialsOf(environment, profile);
  if (accessKeyId === undefined || secretAccessKey === undefined) return async (request) => request;
  const credentials = sessionToken === undefined ? {} : { sessionToken };
  const client = new AwsClient({ accessKeyId, secretAccessKey, ...credentials, region, service: "s3" });
  return (request) => client.sign(request);
}

function profileOf(environment: Environment): Profile {
  const name = environment.AWS_PROFILE ?? "default";
  const folder = join(environment.HOME ?? homedir(), ".aws");
  const credentials = sectionOf(environment.AWS_SHARED_CREDENTIALS_FILE ?? join(folder, "credentials"), name);
  const section = name === "default" ? name : `profile ${name}`;
  const settings = sectionOf(environment.AWS_CONFIG_FILE ?? join(folder, "config"), section);
  if (environment.AWS_PROFILE !== undefined && credentials === null && settings === null)
    throw new DataError(`AWS_PROFILE is "${name}", which neither file of AWS has a section for`);
  return { ...settings, ...credentials };
}

function sectionOf(file: string, section: string): Profile | null {
  const text = orElse(() => readFileSync(file, "utf8"), null);
  if (text === null) return null;
  const found: unknown = parse(text)[section];
  return typeof found === "object" && found !== null ? (found as Profile) : null;
}
