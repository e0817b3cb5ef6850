import { Controller, Get, Injectable, Param, type PipeTransform } from '@nestjs/common';
import {
  type ClientProxy,
  ClientProxyFactory,
  MessagePattern,
  Payload,
  type TcpClientOptions,
  type TcpOptions,
  Transport,
} from '@nestjs/microservices';
import { DistributedLock, LockService } from 'nest-holdfast';
import { firstValueFrom } from 'rxjs';
import { freePort } from '../../support/processes/free-port.js';
import { until } from '../../support/until.js';
import { Deferred } from '../support/deferred.js';
import { type TransportApp, openTransport } from './support/transport-app.js';

const AT_ONCE = { waitTimeout: 0 };
const BUSY = { statusCode: 409, code: 'LOCK_TIMEOUT' };

@Injectable()
class Stock {
  @DistributedLock('stock', AT_ONCE)
  async count() {
    return 3;
  }
}

@Controller()
class Orders {
  work: Promise<void> = Promise.resolve();

  constructor(
    private readonly locks: LockService,
    private readonly stock: Stock,
  ) {}

  @DistributedLock('order:<id>', AT_ONCE)
  @Get('orders/:id')
  async request(@Param('id') id: unknown) {
    return this.#pay(id);
  }

  @MessagePattern('order')
  @DistributedLock('order:<id>', AT_ONCE)
  async message(@Payload('id') id: unknown) {
    return this.#pay(id);
  }

  @Get('stock')
  async stockOfRequest() {
    return this.stock.count();
  }

  @MessagePattern('stock')
  async stockOfMessage() {
    return this.stock.count();
  }

  async #pay(id: unknown) {
    await this.work;
    return { id, key: this.locks.current()?.key };
  }
}

/** `042` and `42` are the same order. */
class OrderNumber implements PipeTransform {
  transform(value: unknown): unknown {
    return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  }
}

describe('an application with HTTP and microservices', () => {
  let transport: TransportApp;
  /** Of a microservice that has the global pipes and interceptors of its application, and of one that has not. */
  let inheriting: ClientProxy;
  let standalone: ClientProxy;

  beforeAll(async () => {
    const [one, other] = [await tcp(), await tcp()];
    transport = await openTransport({
      controllers: [Orders],
      providers: [Stock],
      async prepare(app) {
        app.useGlobalPipes(new OrderNumber());
        app.connectMicroservice<TcpOptions>(one, { inheritAppConfig: true });
        app.connectMicroservice<TcpOptions>(other);
        await app.startAllMicroservices();
      },
    });
    inheriting = ClientProxyFactory.create(one as TcpClientOptions);
    standalone = ClientProxyFactory.create(other as TcpClientOptions);
  });
  afterAll(async () => {
    await inheriting.close();
    await standalone.close();
    await transport[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    transport.takeLog();
    transport.get(Orders).work = Promise.resolve();
  });
  afterEach(() => transport.control.reset());

  const tcp = async (): Promise<TcpOptions> => ({
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port: await freePort() },
  });
  const clients = () => ({ inheriting, standalone });
  const ask = (client: ClientProxy, pattern: string, data: object = { id: '42' }) =>
    firstValueFrom(client.send<unknown>(pattern, data));

  it('has one lock for all its transports', async () => {
    const work = new Deferred();
    transport.get(Orders).work = work.promise;
    const answer = transport.http.get('/orders/42').then(({ body }) => body as unknown);
    await until(() => transport.control.held().length === 1);
    await expect(ask(inheriting, 'order')).rejects.toMatchObject(BUSY);
    await expect(ask(standalone, 'order')).rejects.toMatchObject(BUSY);
    work.resolve();
    expect(await answer).toEqual({ id: 42, key: 'order:42' });
  });

  it('refuses requests while a message is handled', async () => {
    const work = new Deferred();
    transport.get(Orders).work = work.promise;
    const answer = ask(standalone, 'order');
    await until(() => transport.control.held().length === 1);
    const { body } = await transport.http
      .get('/orders/42')
      .expect(409)
      .expect('retry-after', /^[12]$/);
    expect(body).toMatchObject(BUSY);
    work.resolve();
    expect(await answer).toEqual({ id: '42', key: 'order:42' });
  });

  it.each(['inheriting', 'standalone'] as const)(
    'takes each lock once, however many interceptors there are: %s',
    async (which) => {
      await ask(clients()[which], 'order');
      expect(transport.log).toEqual(['+order:42', '-order:42']);
    },
  );

  it('has its global pipes before the lock where a microservice inherits them', async () => {
    const message = { id: '042' };
    await transport.http.get('/orders/042').expect(200, { id: 42, key: 'order:42' });
    expect(await ask(inheriting, 'order', message)).toEqual({ id: 42, key: 'order:42' });
    expect(await ask(standalone, 'order', message)).toEqual({ id: '042', key: 'order:042' });
  });

  it('tells of locks of its services where a microservice inherits the interceptors of its application', async () => {
    transport.control.busy('stock');
    await transport.http.get('/stock').expect(409);
    await expect(ask(inheriting, 'stock')).rejects.toMatchObject(BUSY);
    await expect(ask(standalone, 'stock')).rejects.toEqual({
      status: 'error',
      message: 'Internal server error',
    });
  });
});
