import { get, type Server } from 'node:http';
import { promisify } from 'node:util';
import { Controller, Get, Param, Post } from '@nestjs/common';
import { DistributedLock } from 'nest-holdfast';
import { until } from '../../../support/until.js';
import { Deferred } from '../../support/deferred.js';
import { ADAPTERS } from '../../support/test-app.js';
import { openTransport, type TransportApp } from '../support/transport-app.js';
import { PRIVATE, TROUBLES } from '../support/troubles.js';

const STATUS = { busy: 409, down: 503, lost: 500 };

@Controller('orders')
class Orders {
  readonly ran: string[] = [];
  work = new Deferred();

  @DistributedLock('order:<id>', { waitTimeout: 0 })
  @Post('above/:id')
  async above(@Param('id') id: string) {
    this.ran.push(id);
    return { id };
  }

  @Post('below/:id')
  @DistributedLock('order:<id>', { waitTimeout: 0 })
  async below(@Param('id') id: string) {
    this.ran.push(id);
    return { id };
  }

  @Get('slow/:id')
  @DistributedLock('order:<id>')
  async slow(@Param('id') id: string) {
    await this.work.promise;
    this.ran.push(id);
  }
}

describe.each(ADAPTERS)('HTTP, on %s', (adapter) => {
  let transport: TransportApp;

  beforeAll(async () => {
    transport = await openTransport({ adapter, controllers: [Orders] });
  });
  afterAll(() => transport[Symbol.asyncDispose]());
  afterEach(() => {
    transport.control.reset();
    transport.get(Orders).ran.length = 0;
  });

  describe.each(['above', 'below'])('with the lock %s the route', (where) => {
    it('runs the handler', async () => {
      await transport.http.post(`/orders/${where}/7`).expect(201, { id: '7' });
    });

    it.each(TROUBLES)('answers a lock that is $name', async ({ name, code, hasRun, strike }) => {
      strike(transport.control, 'order:7');
      const response = await transport.http.post(`/orders/${where}/7`).expect(STATUS[name]);
      expect(response.body.code).toBe(name === 'lost' ? undefined : code);
      const seconds = response.headers['retry-after'];
      expect(seconds ?? 'none').toMatch(name === 'lost' ? 'none' : /^[12]$/);
      expect(response.text).not.toContain(PRIVATE);
      expect(transport.get(Orders).ran).toHaveLength(hasRun ? 1 : 0);
    });
  });

  it('keeps the lock of a client that goes away while its work runs, until the work ends', async () => {
    const { ran, work } = transport.get(Orders);
    const request = get(`${await transport.app.getUrl()}/orders/slow/7`);
    request.on('error', () => {}); // of the abort
    await transport.control.untilHeld('order:7');
    request.destroy();
    const server = transport.app.getHttpServer() as Server;
    const connections = promisify(server.getConnections.bind(server));
    await until(async () => (await connections()) === 0);
    await transport.http.post('/orders/below/7').expect(409);
    work.resolve();
    await until(() => transport.isFree('order:7'));
    expect(ran).toEqual(['7']);
  });
});
