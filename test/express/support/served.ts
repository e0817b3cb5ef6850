import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Express } from 'express';
import { until } from '../../support/until.js';

/** An application on a free loopback port. Its connections close with the block. */
export class Served implements AsyncDisposable {
  readonly #server: Server;

  static async start(app: Express): Promise<Served> {
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Served(server);
  }

  private constructor(server: Server) {
    this.#server = server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** A connection on which a test writes its requests as text. */
  async connect(): Promise<Wire> {
    const socket = connect(this.port, '127.0.0.1');
    await once(socket, 'connect');
    return new Wire(socket);
  }

  /** Resolves when the server has seen every client go. */
  untilAlone(): Promise<boolean> {
    const count = () =>
      new Promise<number>((resolve) => this.#server.getConnections((_, open) => resolve(open)));
    return until(async () => (await count()) === 0, { what: 'every connection to be closed' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

export class Wire {
  /** All that the server has sent. */
  received = '';
  /** Resolves when the connection is closed, by whomever. */
  readonly closed: Promise<unknown>;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => (this.received += text));
    socket.on('error', () => {}); // it hangs up in the middle
  }

  /** `GET /path`, unless it says more. Several are pipelined. */
  send(...requests: readonly string[]): void {
    const whole = (line: string) =>
      `${line.includes(' ') ? line : `GET ${line}`} HTTP/1.1\r\nHost: test\r\n\r\n`;
    this.#socket.write(requests.map(whole).join(''));
  }

  write(text: string | Buffer): void {
    this.#socket.write(text);
  }

  async until(text: string): Promise<void> {
    await until(() => this.received.includes(text), { what: `"${text}" to be received` });
  }

  /** Reads no more: the server's bytes fill the buffers between. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** The statuses of all answers so far, in order. */
  get statuses(): number[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
