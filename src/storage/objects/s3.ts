/** Finds addresses and signatures of S3, and of stores that speak like it, by the usual variables and files of AWS. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { AwsClient } from "aws4fetch";
import { parse } from "ini";
import { DataError } from "../../errors.js";
import type { Sign } from "./remote-objects.js";

type Environment = Readonly<Record<string, string | undefined>>;
type Profile = Readonly<Record<string, string | undefined>>;

/** Time after which the files of credentials are read again. */
const CREDENTIALS_MS = 60_000;

/** The address of the objects of a prefix, and the signature of requests. */
export interface S3Place {
  /** Address of the bucket. */
  readonly bucket: string;
  /** Address of the prefix, without a slash at its end. */
  readonly prefix: string;
  /** The prefix as a key, without slashes around it. */
  readonly key: string;
  readonly sign: Sign;
}

/**
 * The place of `s3://bucket/prefix`. Credentials come from `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, else from
 * the profile `AWS_PROFILE` (or `default`) of the shared files; without any, requests are not signed.
 */
export function s3Place(location: string, environment: Environment = process.env): S3Place {
  const { host: bucket, pathname } = new URL(location);
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) throw new DataError(`${location} does not name a bucket`);
  const key = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, "");
  const profile = profileOf(environment);
  const region = environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION ?? profile.region ?? "us-east-1";
  const endpoint = environment.AWS_ENDPOINT_URL_S3 ?? environment.AWS_ENDPOINT_URL ?? profile.endpoint_url;
  const base =
    endpoint === undefined
      ? `https://${bucket}.s3.${region}.amazonaws.com`
      : `${endpoint.replace(/\/+$/, "")}/${bucket}`;
  const path = key.split("/").map(encodeURIComponent).join("/");
  return {
    bucket: base,
    prefix: path === "" ? base : `${base}/${path}`,
    key,
    sign: signature(environment, region),
  };
}

/** Signs with the credentials of the moment: those of files are renewed by other programs before they end. */
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
  const accessKeyId = environment.AWS_ACCESS_KEY_ID ?? profile.aws_access_key_id;
  const secretAccessKey = environment.AWS_SECRET_ACCESS_KEY ?? profile.aws_secret_access_key;
  const sessionToken = environment.AWS_SESSION_TOKEN ?? profile.aws_session_token;
  if (accessKeyId === undefined || secretAccessKey === undefined) return async (request) => request;
  const credentials = sessionToken === undefined ? {} : { sessionToken };
  const client = new AwsClient({ accessKeyId, secretAccessKey, ...credentials, region, service: "s3" });
  return (request) => client.sign(request);
}

/** The named profile, from the file of credentials and the file of settings. */
function profileOf(environment: Environment): Profile {
  const name = environment.AWS_PROFILE ?? "default";
  const folder = join(environment.HOME ?? homedir(), ".aws");
  const credentials = sectionOf(environment.AWS_SHARED_CREDENTIALS_FILE ?? join(folder, "credentials"), name);
  const section = name === "default" ? name : `profile ${name}`;
  const settings = sectionOf(environment.AWS_CONFIG_FILE ?? join(folder, "config"), section);
  return { ...settings, ...credentials };
}

function sectionOf(file: string, section: string): Profile {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return {};
  }
  const found: unknown = parse(text)[section];
  return typeof found === "object" && found !== null ? (found as Profile) : {};
}
