import { get, type Server } from 'node:http';
import { promisify } from 'node:util';
import { Controller, Get, Param, Post } from '@nestjs/common';
import { DistributedLock } from 'nest-holdfast';
import { until } from '../../../support/until.js';
import { Deferred } from '../../support/deferred.js';
import { ADAPTERS } from '../../support/test-app.js';
import { openDoor, type Door } from '../support/door-app.js';
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
  let door: Door;

  beforeAll(async () => {
    door = await openDoor({ adapter, controllers: [Orders] });
  });
  afterAll(() => door[Symbol.asyncDispose]());
  afterEach(() => {
    door.control.reset();
    door.get(Orders).ran.length = 0;
  });

  describe.each(['above', 'below'])('with the lock %s the route', (where) => {
    it('runs the handler', async () => {
      await door.http.post(`/orders/${where}/7`).expect(201, { id: '7' });
    });

    it.each(TROUBLES)('answers a lock that is $name', async ({ name, code, hasRun, strike }) => {
      strike(door.control, 'order:7');
      const response = await door.http.post(`/orders/${where}/7`).expect(STATUS[name]);
      expect(response.body.code).toBe(name === 'lost' ? undefined : code);
      const seconds = response.headers['retry-after'];
      expect(seconds ?? 'none').toMatch(name === 'lost' ? 'none' : /^[12]$/);
      expect(response.text).not.toContain(PRIVATE);
      expect(door.get(Orders).ran).toHaveLength(hasRun ? 1 : 0);
    });
  });

  it('keeps the lock of a client that goes away while its work runs, until the work ends', async () => {
    const { ran, work } = door.get(Orders);
    const request = get(`${await door.app.getUrl()}/orders/slow/7`);
    request.on('error', () => {}); // of the abort
    await door.control.untilHeld('order:7');
    request.destroy();
    const server = door.app.getHttpServer() as Server;
    const connections = promisify(server.getConnections.bind(server));
    await until(async () => (await connections()) === 0);
    await door.http.post('/orders/below/7').expect(409);
    work.resolve();
    await until(() => door.isFree('order:7'));
    expect(ran).toEqual(['7']);
  });
});
