import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReleaseRequest, Snapshot } from '../../../../lib/dashboard/api.js';
import type { BuiltPage } from '../../../../lib/dashboard/built-page.js';

const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
].join('; ');

const HTML = `<!doctype html><html lang="en"><head><meta charset="utf-8"><base href="./locks/"><title>Locks</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="page.css">
</head><body><div id="app"></div><script type="module" src="page.js"></script></body></html>`;

/** The snapshot that the page gets. A function is called at each request. */
export type Shown = Snapshot | ((query: URLSearchParams) => Snapshot);

/** A server that shows the page what a test says: states that a real store is in for a moment only. */
export class PageFixture {
  /** The queries of the streams that are open. */
  readonly streams = new Map<ServerResponse, URLSearchParams>();
  readonly releases: ReleaseRequest[] = [];
  /** Answers `POST api/release`. */
  release = { status: 200, body: { released: true, outcome: 'taken' } as object };
  /** As a proxy that hands on no answer before its end. */
  holdsBack = false;
  /** Answers every request of `api/…` with this status. */
  refuses: number | undefined;
  #server: Server | undefined;
  #port = 0;

  constructor(
    private readonly page: BuiltPage,
    private shown: Shown,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.#port}/locks`;
  }

  /** On the same port as before, if it was open before. */
  async open(): Promise<void> {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** As a crash of the server: all connections end. */
  async close(): Promise<void> {
    this.#server?.close();
    this.#server?.closeAllConnections();
    if (this.#server?.listening) await once(this.#server, 'close');
  }

  /** To all that look. */
  show(shown: Shown): void {
    this.shown = shown;
    if (this.holdsBack) return;
    for (const [response, query] of this.streams) this.#send(response, query);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, this.url);
    response.setHeader('content-security-policy', CSP);
    if (pathname.includes('/api/') && this.refuses !== undefined)
      response.writeHead(this.refuses).end();
    else if (pathname === '/locks/api/events') this.#stream(response, searchParams);
    else if (pathname === '/locks/api/snapshot') json(response, 200, this.#at(searchParams));
    else if (pathname === '/locks/api/release') await this.#release(request, response);
    else if (pathname === '/locks/page.js') send(response, 'text/javascript', this.page.script);
    else if (pathname === '/locks/page.css') send(response, 'text/css', this.page.style);
    else if (pathname === '/locks') send(response, 'text/html; charset=utf-8', HTML);
    else response.writeHead(404).end();
  }

  #stream(response: ServerResponse, query: URLSearchParams): void {
    this.streams.set(response, query);
    response.once('close', () => this.streams.delete(response));
    if (this.holdsBack) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#send(response, query);
  }

  #send(response: ServerResponse, query: URLSearchParams): void {
    response.write(`event: snapshot\ndata: ${JSON.stringify(this.#at(query))}\n\n`);
  }

  #at(query: URLSearchParams): Snapshot {
    return typeof this.shown === 'function' ? this.shown(query) : this.shown;
  }

  async #release(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.releases.push(JSON.parse(Buffer.concat(chunks).toString()) as ReleaseRequest);
    json(response, this.release.status, this.release.body);
  }
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function send(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { 'content-type': type }).end(text);
}
