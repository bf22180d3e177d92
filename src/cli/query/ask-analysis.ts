/** Asks a service for an analysis. */
import { ClientError } from "../../client/error.js";
import { postTo } from "../../client/plain-http.js";
import { explain } from "./answer.js";

/** @throws Error in one line for what the service refuses, with a hint at the remedy */
export async function askAnalysis(
  url: string,
  dataset: string,
  kind: string,
  body: object,
  accept: string,
  token: string | undefined,
): Promise<ArrayBuffer> {
  const path = `${encodeURIComponent(dataset)}/${kind}`;
  try {
    return (await postTo(url, path, body, accept, token, new AbortController().signal)).bytes;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    throw new Error(explain({ ...error.detail, code: error.code, message: error.message }), { cause: error });
  }
}
