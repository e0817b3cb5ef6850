import { get, request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { TestApp } from './test-app.js';

/** A client that can leave, and that reads only when it is told to. */
export class HttpClient {
  text = '';
  /** Of the response. */
  status: number | undefined;
  /** `'complete'`, or `'cut'` where the response ended before its end. */
  end: 'complete' | 'cut' | undefined;
  readonly #request: ClientRequest;
  #response: IncomingMessage | undefined;

  private constructor(sent: ClientRequest, reads: boolean) {
    this.#request = sent;
    sent.on('error', () => (this.end ??= 'cut'));
    sent.on('response', (response: IncomingMessage) => {
      this.#response = response;
      this.status = response.statusCode;
      response.on('error', () => {}); // `complete` tells
      response.on('close', () => (this.end ??= response.complete ? 'complete' : 'cut'));
      if (reads) this.read();
    });
    sent.end();
  }

  static async get(app: TestApp, path: string, { reads = true } = {}): Promise<HttpClient> {
    return new HttpClient(get(`${await app.app.getUrl()}/${path}`), reads);
  }

  static async head(app: TestApp, path: string): Promise<HttpClient> {
    return new HttpClient(request(`${await app.app.getUrl()}/${path}`, { method: 'HEAD' }), true);
  }

  get hasResponse(): boolean {
    return this.#response !== undefined;
  }

  read(): void {
    this.#response!.on('data', (chunk: Buffer) => (this.text += String(chunk)));
  }

  leave(): void {
    this.#request.destroy();
  }
}
