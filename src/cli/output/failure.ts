/** Text of an error with its causes, for users of the command line. */
import { ClientError } from "../../client/error.js";
import { DataError, type Fault } from "../../shared/errors.js";
import { describeError } from "../../shared/system.js";

export function failureText(error: unknown): string {
  if (error instanceof ClientError) return refusalText(error);
  const text = describeError(error);
  if (!(error instanceof DataError) || !(error.cause instanceof Error)) return text;
  const isKnown = error.cause instanceof DataError || "code" in error.cause;
  const reason = failureText(error.cause);
  // A text with a colon already gives its reason, unless the colon is that of a name.
  return isKnown && !/: (?!.* cannot be read)/.test(text) && !text.includes(reason) ? `${text} ${reason}` : text;
}

/** The faults of a refusal, one on each line below the prefix `fieldprobe: `, with a hint. */
function refusalText({ code, message, detail }: ClientError): string {
  const { faults = [], limit } = detail;
  if (code === "Network") return explainNetwork(message);
  if (limit !== undefined) return `${message} (limit ${limit})`;
  if (code === "AuthenticationFailed") return `${message} (--token gives one)`;
  return faults.length === 0 ? message : faults.map(faultText).join("\n            ");
}

function faultText({ detail, nearest }: Fault): string {
  return nearest === undefined || detail.includes(nearest) ? detail : `${detail} (did you mean ${nearest}?)`;
}

function explainNetwork(message: string): string {
  // From Node 24 on, separate advice follows the reason.
  const [reason = ""] = message.split(";");
  if (/certificate/i.test(message)) return `${reason}; NODE_EXTRA_CA_CERTS=FILE names the certificate to trust`;
  if (/wrong version number|packet length too long/.test(message)) return `${reason}: not TLS; try http://`;
  if (/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/.test(message))
    return `there is no service there: ${message}`;
  return message;
}
