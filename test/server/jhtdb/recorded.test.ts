/**
 * Requests as clients of the public REST interface put them on the wire, byte for byte, and their answers read as
 * clients do.
 */
import { afterAll, describe, expect, it } from "vitest";
import { exchange } from "../../support/raw-http.js";
import { serveTestData } from "../../support/service.js";

const service = await serveTestData();
const port = Number(new URL(service.url).port);
afterAll(() => service.close());

const POINTS =
  "1.00000000\t2.00000000\t3.00000000\n0.10000000\t4.12345679\t5.00000000\n-0.50000000\t7.00000000\t6.20000000";

/** python-requests 2.28: no Content-Type, no line feed at the end. */
const python = (query: string, body = POINTS): string =>
  [
    `POST /turbulence-svc-test/values?${query} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    "User-Agent: python-requests/2.28.1",
    "Accept-Encoding: gzip, deflate, br",
    "Accept: */*",
    "Connection: keep-alive",
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");

/** libcurl with POSTFIELDS: a form's media type, and a line feed after the last point. */
const curl = (query: string): string => {
  const body = `${POINTS}\n`;
  return [
    `POST /turbulence-svc/values?${query} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    "Accept: */*",
    `Content-Length: ${body.length}`,
    "Content-Type: application/x-www-form-urlencoded",
    "",
    body,
  ].join("\r\n");
};

/** MATLAB's webwrite with a text body. */
const matlab = (query: string): string =>
  [
    `POST /turbulence-svc/values?${query} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    "User-Agent: MATLAB 24.1",
    "Accept: application/json",
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${POINTS.length}`,
    "Connection: close",
    "",
    POINTS,
  ].join("\r\n");

/** Sends bytes and reads one answer by its framing. */
async function ask(bytes: string): Promise<{ status: number; head: string; json: unknown }> {
  const whole = (text: string): boolean => {
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end));
    return length ? text.length >= end + 4 + Number(length[1]) : text.endsWith("\r\n0\r\n\r\n");
  };
  const { text } = await exchange(port, bytes, whole);
  const end = text.indexOf("\r\n\r\n");
  const head = text.slice(0, end);
  const body = text.slice(end + 4);
  const chunked = /transfer-encoding: chunked/i.test(head);
  const plain = chunked ? body.replace(/(?:^|\r\n)[0-9a-f]+\r\n/gi, "").replace(/\r\n$/, "") : body;
  return { status: Number(head.split(" ")[1]), head, json: JSON.parse(plain) };
}

/**
 * What the Python client accepts: as many rows as points and times, as many columns as the variable has, nothing left
 * out.
 */
function asPython(json: unknown, times: number, columns: number): Float32Array {
  const rows = json as number[][];
  expect(rows).toHaveLength(3 * times);
  for (const row of rows) expect(row).toHaveLength(columns);
  const numbers = Float32Array.from(rows.flat());
  expect(numbers.includes(Math.fround(-999.9))).toBe(false);
  expect(numbers.every(Number.isFinite)).toBe(true);
  return numbers;
}

const COMMON = "authToken=TOKEN&dataset=isotropic32&function=GetVariable";
const NONE = "timepoint_end=-999.9&delta_t=-999.9";

describe("recorded requests", () => {
  it.each([
    [`${COMMON}&var=velocity&t=0.364&sint=lag8&sop=field&tint=none&${NONE}`, 1, 3],
    [`${COMMON}&var=velocity&t=0.364&sint=lag8&sop=field&tint=pchip&${NONE}`, 1, 3],
    [`${COMMON}&var=velocity&t=0.364&sint=fd4lag4&sop=gradient&tint=none&${NONE}`, 1, 9],
    [`${COMMON}&var=velocity&t=0.364&sint=fd6noint&sop=hessian&tint=none&${NONE}`, 1, 18],
    [`${COMMON}&var=velocity&t=0.364&sint=fd8noint&sop=laplacian&tint=none&${NONE}`, 1, 3],
    [`${COMMON}&var=pressure&t=0.364&sint=fd4lag4&sop=gradient&tint=none&${NONE}`, 1, 3],
    [`${COMMON}&var=pressure&t=0.364&sint=fd4lag4&sop=hessian&tint=none&${NONE}`, 1, 6],
    [`${COMMON}&var=force&t=0.364&sint=lag4&sop=field&tint=none&${NONE}`, 1, 3],
    [`${COMMON}&var=pressure&t=0.364&sint=lag6&sop=field&tint=none&${NONE}`, 1, 1],
    [`${COMMON}&var=velocity&t=0.364&sint=m1q4&sop=field&tint=none&${NONE}`, 1, 3],
    [`${COMMON}&var=velocity&t=0.364&sint=m2q8&sop=gradient&tint=none&${NONE}`, 1, 9],
    [`${COMMON}&var=velocity&t=0.364&sint=m2q14&sop=hessian&tint=none&${NONE}`, 1, 18],
    [`${COMMON}&var=position&t=0.2&sint=lag6&sop=field&tint=none&timepoint_end=0.4&delta_t=0.02`, 1, 3],
    [`${COMMON}&var=velocity&t=1&sint=lag4&sop=field&tint=none&${NONE}`, 1, 3],
    [`${COMMON}&var=velocity&t=0.1&sint=lag8&sop=field&tint=pchip&timepoint_end=0.5&delta_t=0.1`, 5, 3],
    [`${COMMON}&var=velocity&t=0.1&sint=fd4noint&sop=gradient&tint=pchip&timepoint_end=0.5&delta_t=0.1`, 5, 9],
  ])("of Python: %s", async (query, times, columns) => {
    const { status, head, json } = await ask(python(query));
    expect(status).toBe(200);
    expect(head).toMatch(/content-type: application\/json/i);
    asPython(json, times, columns);
  });

  it("of C and MATLAB, which leave the last two parameters out, get the same numbers", async () => {
    const query = `${COMMON}&var=velocity&t=0.364000&sint=lag8&sop=field&tint=none`;
    const first = asPython((await ask(python(`${query}&${NONE}`))).json, 1, 3);
    expect(asPython((await ask(curl(query))).json, 1, 3)).toEqual(first);
    expect(asPython((await ask(matlab(query))).json, 1, 3)).toEqual(first);
  });

  it("of a token with an ampersand arrives as two parameters and is refused by name", async () => {
    const { status, json } = await ask(
      python(
        `authToken=a%20b&c&dataset=isotropic32&function=GetVariable&var=velocity&t=0&sint=lag8&sop=field&tint=none`,
      ),
    );
    expect([status, json]).toEqual([
      400,
      { title: "Error", description: [expect.stringContaining('There is no parameter "c"')] },
    ]);
  });
});
