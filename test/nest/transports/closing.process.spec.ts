import { Controller, Get, type INestApplication, Injectable } from '@nestjs/common';
import {
  ClientProxyFactory,
  MessagePattern,
  type TcpClientOptions,
  type TcpOptions,
  Transport,
} from '@nestjs/microservices';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Cron, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { CurrentLock, DistributedLock, DistributedLockModule, type Lock } from 'nest-holdfast';
import { firstValueFrom } from 'rxjs';
import supertest from 'supertest';
import { nothingLeft } from '../../support/faults/left-behind.js';
import { RedisLocks } from '../../stores/redis/locks.js';
import { ChildProcess } from '../../support/processes/child-process.js';
import { freePort } from '../../support/processes/free-port.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { Deferred } from '../support/deferred.js';
import { ADAPTERS, type AdapterName } from '../support/test-app.js';
import type { Report } from './closing.worker.js';
import { NestLog } from './events/events-log.js';

const PATIENT = { waitTimeout: Infinity };
/** The answer to a caller whose wait was ended. */
const ENDED = {
  statusCode: 503,
  code: 'LOCK_STORE_FAILED',
  message: 'The lock store is not available',
};
/** The answer to a holder's caller over TCP. Nest 10 leaves connections open, so that it hears of the loss. */
const HOLDERS_ANSWERS = [
  new Error('Connection closed'),
  { status: 'error', message: 'Internal server error' },
];
/** The reason of the holder's signal. */
const TAKEN_BACK = { code: 'LOCK_LOST', reason: 'closed' };

@Controller()
class Handlers {
  held: Lock | undefined;
  readonly work = new Deferred<string>();

  @Get('orders/:id')
  @DistributedLock('order:<request.params.id>', PATIENT)
  async request(@CurrentLock() lock?: Lock) {
    return this.#hold(lock);
  }

  @MessagePattern('order')
  @DistributedLock('order:<request.data.id>', PATIENT)
  async message(_message: object, @CurrentLock() lock?: Lock) {
    return this.#hold(lock);
  }

  #hold(lock: Lock | undefined): Promise<string> {
    this.held = lock;
    return this.work.promise;
  }
}

@Injectable()
class Jobs {
  held: Lock | undefined;

  @Cron('0 0 0 1 1 *', { name: 'yearly' })
  @DistributedLock('yearly')
  async yearly(@CurrentLock() lock?: Lock) {
    this.held = lock;
    await new Promise((resolve) => lock!.signal.addEventListener('abort', resolve));
  }
}

interface AppOptions {
  readonly adapter?: AdapterName;
  readonly forceCloseConnections?: boolean;
  readonly tcp?: TcpOptions;
}

describe('app.close() in the middle of a hold', () => {
  let server: RedisServer;
  /** Another process. */
  let elsewhere: RedisLocks;
  let app: INestApplication;
  /** Ends the leftovers of a test that failed. */
  let finish = async () => {};

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());
  beforeEach(() => (elsewhere = new RedisLocks(server.url)));
  afterEach(async () => {
    await elsewhere[Symbol.asyncDispose]();
    await finish();
    await nothingLeft(server);
  });

  const startApp = async (options: AppOptions = {}) => {
    const { adapter = 'express', forceCloseConnections = false, tcp } = options;
    const testing = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot({ redis: server.url }), ScheduleModule.forRoot()],
      controllers: [Handlers],
      providers: [Jobs],
    }).compile();
    const httpAdapter =
      adapter === 'express' ? new ExpressAdapter() : new FastifyAdapter({ forceCloseConnections });
    app = testing.createNestApplication(httpAdapter as never, {
      logger: false,
      forceCloseConnections,
    });
    if (tcp) app.connectMicroservice<TcpOptions>(tcp);
    await app.startAllMicroservices();
    await app.listen(0, '127.0.0.1');
    finish = async () => {
      handlers().work.resolve('over');
      finish = async () => {};
      await app.close();
    };
  };
  const handlers = () => app.get(Handlers);
  /** Sends the request, and settles with its answer, or with why there is none. */
  const asked = (path: string): Promise<{ status?: number; body?: unknown; text?: string }> =>
    supertest(app.getHttpServer() as never)
      .get(path)
      .then(
        (answer) => answer,
        (error: Error) => ({ text: error.message }),
      );
  const isAwaited = (key: string) =>
    until(async () => (await server.command('EXISTS', `{lock:${key}}:line`)) === 1);
  const isFree = async (key: string) => (await elsewhere.locks.inspect(key)) === undefined;

  describe.each(ADAPTERS)('on %s', (adapter) => {
    it('an open request may finish under its lock', async () => {
      await startApp({ adapter });
      const answer = asked('/orders/7');
      await until(() => handlers().held);
      const closed = app.close();
      await until(async () => (await asked('/')).status === undefined, {
        what: 'no more requests',
      });
      expect(handlers().held!.isHeld).toBe(true);
      expect(await isFree('order:7')).toBe(false);

      handlers().work.resolve('done');
      expect(await answer).toMatchObject({ status: 200, text: 'done' });
      await closed;
      expect(await isFree('order:7')).toBe(true);
    });

    it('a request that waits for a lock is told so, and does not keep the application', async () => {
      await startApp({ adapter });
      const held = await elsewhere.locks.acquire('order:7');
      const answer = asked('/orders/7');
      await isAwaited('order:7');
      await app.close();
      expect(await answer).toMatchObject({ status: 503, body: ENDED });
      await held.release();
      await nothingLeft(server);
    });

    it('forceCloseConnections ends requests, and their locks are taken back', async () => {
      await startApp({ adapter, forceCloseConnections: true });
      const answer = asked('/orders/7');
      await until(() => handlers().held);
      await app.close();
      expect(handlers().held!.signal.reason).toMatchObject(TAKEN_BACK);
      expect(await isFree('order:7')).toBe(true);
      expect((await answer).text).toBe('socket hang up');
      handlers().work.resolve('too late');
    });
  });

  it('TCP connections are cut, held locks taken back, and waits ended', async () => {
    const options = { host: '127.0.0.1', port: await freePort() };
    await startApp({ tcp: { transport: Transport.TCP, options } });
    const client = ClientProxyFactory.create({
      transport: Transport.TCP,
      options,
    } as TcpClientOptions);
    await client.connect();
    const asking = (id: number) =>
      firstValueFrom(client.send<unknown>('order', { id })).catch((error: unknown) => error);
    const held = await elsewhere.locks.acquire('order:8');
    const holding = asking(7);
    const waiting = asking(8);
    await until(() => handlers().held);
    await isAwaited('order:8');
    await app.close();
    expect(handlers().held!.signal.reason).toMatchObject(TAKEN_BACK);
    expect(await isFree('order:7')).toBe(true);
    expect(await waiting).toEqual(ENDED);
    handlers().work.resolve('too late');
    expect(HOLDERS_ANSWERS).toContainEqual(await holding);
    await held.release();
    await client.close();
  });

  it('the lock of a job is taken back, and the log says so', async () => {
    await startApp();
    using log = new NestLog();
    app.useLogger(log);
    void app.get(SchedulerRegistry).getCronJob('yearly').fireOnTick();
    await until(() => app.get(Jobs).held);
    await app.close();
    expect(app.get(Jobs).held!.signal.reason).toMatchObject(TAKEN_BACK);
    expect(await isFree('yearly')).toBe(true);
    await log.untilError('LockLostError', 'yearly', 'its LockService was closed');
  });

  /** Ends a process in which locks are held and awaited. */
  const endedBy = async (how: 'SIGTERM' | 'close') => {
    const options = { host: '127.0.0.1', port: await freePort() };
    await using worker = new ChildProcess<'close', Report>(
      'test/nest/transports/closing.worker.ts',
      {
        env: { REDIS_URL: server.url, TCP_PORT: String(options.port) },
        nodeArgs: ['--unhandled-rejections=strict'],
      },
    );
    const url = await worker.received(({ about }) => about === 'listening');
    const client = ClientProxyFactory.create({
      transport: Transport.TCP,
      options,
    } as TcpClientOptions);
    const holding = firstValueFrom(client.send('hold', {})).catch((error: unknown) => error);
    await until(() => worker.messages.filter(({ about }) => about === 'holding').length === 2);
    const held = await elsewhere.locks.acquire(`elsewhere ${worker.pid}`);
    const waiting = fetch(`${url.what}/wait`);
    await isAwaited(`elsewhere ${worker.pid}`);

    if (how === 'close') worker.send('close');
    else void worker.kill(how);
    const answer = await waiting;
    const exit = await worker.exited;
    const outcome = {
      exit,
      output: worker.output,
      takenBack: worker.messages.filter(({ about }) => about === 'taken back'),
      waiter: [answer.status, await answer.json()],
      holder: await holding,
      isHeldElsewhere: held.isHeld,
    };
    await held.release();
    await client.close();
    return outcome;
  };

  it('a process ends by SIGTERM with enableShutdownHooks, and without anything after close()', async () => {
    const outcome = {
      output: '',
      takenBack: expect.arrayContaining([
        { about: 'taken back', what: 'message', reason: 'closed' },
        { about: 'taken back', what: 'background', reason: 'closed' },
      ]) as unknown,
      waiter: [503, ENDED],
      holder: new Error('Connection closed'),
      isHeldElsewhere: true,
    };
    expect(await Promise.all([endedBy('SIGTERM'), endedBy('close')])).toEqual([
      { ...outcome, exit: { code: null, signal: 'SIGTERM' } },
      { ...outcome, exit: { code: 0, signal: null } },
    ]);
  });
});
