/** Media types of requests and answers. */

/** Forms of an answer, the default first. */
export const FORMS = ["application/json", "text/csv", "application/octet-stream"] as const;
export type Form = (typeof FORMS)[number];

/** Forms of a request. */
export const BODIES = ["application/json", "application/octet-stream"] as const;
