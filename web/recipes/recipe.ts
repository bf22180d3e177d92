/** A recipe is a query with all that a copied text says of it. */
import { shortestDecimal, shortestFloat32 } from "../../src/float32/format.js";
import type { PointQuery } from "../state/point-query.js";

export interface Endpoint {
  /** Address of the service, with a slash at its end. */
  readonly base: string;
  /** Path of the SOAP service below it. */
  readonly soap: string;
  readonly namespace: string;
  /** Whether requests carry a token, for which the texts then leave a place. */
  readonly token: boolean;
}

/** A query as a person would send it: by one request, with positions on the way if they are asked for. */
export interface Recipe {
  readonly query: PointQuery;
  /** Steps between recorded positions; only for particles. */
  readonly every?: number;
  /** The scheme that moves particles; SOAP has heun alone. */
  readonly integrator?: string;
  /** Whether particles stop where they leave through open faces; only for particles. */
  readonly stops?: boolean;
  /** Path of the plain GET request for the same thing, if there is one. */
  readonly get?: string;
  /** Options of the colours for a picture by the GET request. */
  readonly picture?: string;
  /** The formula of the quantity in the components of the answer. */
  readonly note?: string;
}

/** The times of a query: one, or those of its list. */
export function timesOf({ parameters }: PointQuery): readonly number[] {
  const { time } = parameters;
  return Array.isArray(time) ? (time as readonly number[]) : [time as number];
}

/** Whether a query asks for several times at once, which SOAP cannot. */
export function hasTimes({ parameters }: PointQuery): boolean {
  return Array.isArray(parameters.time);
}

/** A parameter as decimal text. */
export function parameterText(value: string | number | readonly number[]): string {
  if (typeof value === "string") return value;
  return typeof value === "number" ? shortestDecimal(value) : value.map(shortestDecimal).join(",");
}

/** x, y and z of each point as decimal text. */
export function pointTexts({ points }: PointQuery): string[][] {
  return Array.from({ length: points.length / 3 }, (_, i) => [...points.slice(3 * i, 3 * i + 3)].map(shortestFloat32));
}

/** A word as a POSIX shell reads it. */
export function shellText(text: string): string {
  return /^[\w.,:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
