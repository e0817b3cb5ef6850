import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { Controller, Get, Param, Put, UseGuards } from '@nestjs/common';
import express, { type Express } from 'express';
import { FencingGate, fencedRequest } from '../../lib/fencing/index.js';
import { FencingGuard } from '../../lib/nest/calls/fencing-guard.js';

/** Keeps one order, for callers with a token that is not stale. */
export function orderApp(): Express {
  const app = express();
  const gate = new FencingGate();
  let order = 'new';
  app.get('/orders/:id', (_request, response) => void response.send(order));
  app.put(
    '/orders/:id/:value',
    fencedRequest('order:<params.id>', { gate, onError: 'respond' }),
    (request, response) => {
      order = request.params.value;
      response.end();
    },
  );
  return app;
}

/** The same with Nest. */
@Controller('orders')
export class OrdersController {
  #order = 'new';

  @Get(':id')
  order(): string {
    return this.#order;
  }

  @Put(':id/:value')
  @UseGuards(new FencingGuard('order:<request.params.id>', { gate: new FencingGate() }))
  update(@Param('value') value: string): void {
    this.#order = value;
  }
}

/** An Express application on a free loopback port. */
export class Listening implements AsyncDisposable {
  static async start(app: Express): Promise<Listening> {
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Listening(server);
  }

  private constructor(readonly server: Server) {}

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
