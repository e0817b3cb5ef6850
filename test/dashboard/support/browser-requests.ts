import { request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Snapshot } from '../../../lib/dashboard/api.js';
import { until } from '../../support/until.js';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request on a connection of its own. */
export async function ask(url: string, asked: Asked = {}): Promise<Answer> {
  const response = await open(url, asked);
  response.setEncoding('utf8');
  let body = '';
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode!, headers: response.headers, body };
}

function open(url: string, { method = 'GET', headers = {}, body }: Asked) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const asking = request(url, { method, headers: { ...headers }, agent: false }, resolve);
    asking.on('error', reject);
    asking.end(body);
  });
}

/** The headers of a request that the page itself sends. */
export const OF_THE_PAGE = {
  'content-type': 'application/json',
  'x-holdfast': '1',
  'sec-fetch-site': 'same-origin',
} as const;

export async function snapshotAt(base: string, query = ''): Promise<Snapshot> {
  const { status, body } = await ask(`${base}api/snapshot${query}`);
  expect(status).toBe(200);
  return JSON.parse(body) as Snapshot;
}

/** The events that an `EventSource` would get. */
export class Events {
  readonly snapshots: Snapshot[] = [];
  /** In order, with the comments as `:`. */
  readonly names: string[] = [];
  isOver = false;
  readonly #response: IncomingMessage;

  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Events> {
    return new Events(await open(url, { headers: { accept: 'text/event-stream', ...headers } }));
  }

  private constructor(response: IncomingMessage) {
    this.#response = response;
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const parts = (text + chunk).split('\n\n');
      text = parts.pop()!;
      for (const part of parts) this.#take(part);
    });
    response.on('close', () => (this.isOver = true));
    response.on('error', () => (this.isOver = true));
  }

  get status(): number {
    return this.#response.statusCode!;
  }

  get headers(): IncomingHttpHeaders {
    return this.#response.headers;
  }

  get last(): Snapshot | undefined {
    return this.snapshots.at(-1);
  }

  /** The first snapshot that fits, from now on the last one included. */
  until(fits: (snapshot: Snapshot) => boolean): Promise<Snapshot> {
    return until(() => (this.last && fits(this.last) ? this.last : undefined));
  }

  close(): void {
    this.#response.destroy();
  }

  #take(event: string): void {
    const [first, ...rest] = event.split('\n');
    this.names.push(first!.replace('event: ', ''));
    const data = rest.find((line) => line.startsWith('data: '))?.slice('data: '.length);
    if (first === 'event: snapshot') this.snapshots.push(JSON.parse(data!));
  }
}
