/** The media type a caller prefers (RFC 9110 12.5.1). */

/** Quality of a media type in an Accept header, by the most specific range that covers it; 0 when none does. */
function quality(accept: string, type: string): number {
  let best = -1;
  let value = 0;
  for (const item of accept.toLowerCase().split(",")) {
    const [range = "", ...parameters] = item.split(";").map((part) => part.trim());
    const specificity = range === type ? 2 : range === `${type.split("/")[0]}/*` ? 1 : range === "*/*" ? 0 : -1;
    if (specificity <= best) continue;
    best = specificity;
    const q = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    value = q >= 0 && q <= 1 ? q : 0;
  }
  return value;
}

/** True when `type` is wanted more than `application/json`. A tie leaves the default. */
export function prefers(accept: string | undefined, type: string): boolean {
  return accept !== undefined && quality(accept, type) > quality(accept, "application/json");
}

/** True when `type` is named and no less wanted than `application/json`: naming a type for errors can mean nothing else. */
export function names(accept: string | undefined, type: string): boolean {
  if (!accept?.toLowerCase().includes(type)) return false;
  const wanted = quality(accept, type);
  return wanted > 0 && wanted >= quality(accept, "application/json");
}
