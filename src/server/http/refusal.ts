/** A request refused before it is SOAP: a plain status and a line of text. */
export class HttpRefusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = "HttpRefusal";
    this.status = status;
    this.headers = headers;
  }
}
