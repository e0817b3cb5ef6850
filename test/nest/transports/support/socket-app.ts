import { once } from 'node:events';
import type { Type } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { WebSocket } from 'ws';
import { NestLog } from '../events/events-log.js';
import { type TransportApp, openTransport } from './transport-app.js';

/** An application with one gateway at `/ws`, a client of it, and what Nest logs: anew for each test. */
export class SocketApp {
  transport!: TransportApp;
  log!: NestLog;
  socket!: WebSocket;

  /** To be called where tests are defined. `reset` comes before each of them. */
  constructor(gateway: Type, reset: (transport: TransportApp) => void) {
    beforeAll(async () => {
      this.transport = await openTransport({
        providers: [gateway],
        prepare: (app) => app.useWebSocketAdapter(new WsAdapter(app)),
      });
    });
    afterAll(() => this.transport[Symbol.asyncDispose]());
    beforeEach(async () => {
      this.log = new NestLog();
      this.transport.app.useLogger(this.log);
      reset(this.transport);
      this.transport.takeLog();
      this.socket = await this.connected();
    });
    afterEach(() => {
      this.socket.terminate();
      this.log[Symbol.dispose]();
      this.transport.control.reset();
    });
  }

  /** Another client. */
  async connected(): Promise<WebSocket> {
    const client = new WebSocket(`${(await this.transport.app.getUrl()).replace('http', 'ws')}/ws`);
    await once(client, 'open');
    return client;
  }

  send(event: string, socket = this.socket): void {
    socket.send(JSON.stringify({ event, data: { id: 7 } }));
  }

  /** Resolves with the next message that the client gets. */
  async ask(event: string): Promise<unknown> {
    const answer = once(this.socket, 'message');
    this.send(event);
    const [message] = (await answer) as unknown[];
    return JSON.parse(String(message));
  }
}
