import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import {
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  Res,
  StreamableFile,
  UseGuards,
} from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { NEVER, from, map, type Observable } from 'rxjs';
import { DistributedLock, DistributedLockModule, LockService } from 'nest-holdfast';
import { until } from '../../../support/until.js';
import { ControlledStore } from '../../support/controlled-store.js';
import { Deferred } from '../../support/deferred.js';
import { NEST_MAJOR } from '../../support/nest-version.js';

const PATIENT = { waitTimeout: Infinity };

interface Reply {
  readonly raw: NodeJS.WritableStream;
  send(body: unknown): unknown;
}

/** Resolve when the request has come to its handler, and when it may go on. */
let arrived: Deferred;
let goOn: Deferred;

/** Hears how a request has ended. */
@Catch()
class Refusals implements ExceptionFilter {
  readonly all: unknown[] = [];

  catch(exception: unknown): void {
    this.all.push(exception);
  }
}

/** Stops a request where the handler has no lock yet. */
class Gate {
  async canActivate(): Promise<boolean> {
    arrived.resolve();
    await goOn.promise;
    return true;
  }
}

async function stop(): Promise<void> {
  arrived.resolve();
  await goOn.promise;
}

async function* nothing(): AsyncGenerator<string> {
  await new Promise(() => {});
  yield 'never';
}

const silence = () => new Readable({ read() {} });

@Controller()
class Handlers {
  ran = 0;

  @Get('waits')
  @UseGuards(Gate)
  @DistributedLock('key', PATIENT)
  async waits() {
    this.ran++;
  }

  @Get('waits-before')
  @UseGuards(Gate)
  @DistributedLock('key', { ...PATIENT, before: 'pipes' })
  async waitsBefore() {
    this.ran++;
  }

  @Get('iterable')
  @DistributedLock('key')
  async iterable() {
    await stop();
    return nothing();
  }

  @Get('stream')
  @DistributedLock('key')
  async stream() {
    await stop();
    return silence();
  }

  @Get('file')
  @DistributedLock('key')
  async file() {
    await stop();
    return new StreamableFile(silence());
  }

  @Get('observable')
  @DistributedLock('key')
  observable(): Observable<unknown> {
    return from(stop()).pipe(map(() => nothing()));
  }

  @Get('pipes-later')
  @DistributedLock('key')
  pipesLater(@Res() { raw }: Reply): Observable<unknown> {
    void stop().then(() => silence().pipe(raw));
    return NEVER;
  }

  @Get('sends-later')
  @DistributedLock('key')
  sendsLater(@Res() reply: Reply): Observable<unknown> {
    void stop().then(() => reply.send(silence()));
    return NEVER;
  }

  @Get('pipes-at-once')
  @DistributedLock('key')
  pipesAtOnce(@Res() { raw }: Reply): Observable<unknown> {
    silence().pipe(raw);
    arrived.resolve();
    return NEVER;
  }

  @Get('piped')
  @DistributedLock('key')
  async piped(@Res() { raw }: Reply) {
    await stop();
    silence().pipe(raw);
  }
}

/** Nest 10 stays subscribed to the Observable of a client that has left: the lock is held until its `maxHold`. */
const itUnsubscribes = NEST_MAJOR > 10 ? it : it.skip;

describe('A request over HTTP/2 that is reset', () => {
  let locks: LockService;
  let elsewhere: LockService;
  let store: ControlledStore;
  let client: ClientHttp2Session;
  let close: () => Promise<unknown>;
  let handlers: Handlers;
  let refusals: Refusals;

  beforeEach(async () => {
    [arrived, goOn] = [new Deferred(), new Deferred()];
    store = new ControlledStore();
    elsewhere = new LockService(store);
    const testing = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot({ store })],
      controllers: [Handlers],
    }).compile();
    const app = testing.createNestApplication(new FastifyAdapter({ http2: true }) as never, { logger: false }); // prettier-ignore
    refusals = new Refusals();
    app.useGlobalFilters(refusals);
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    client = connect(`http://127.0.0.1:${port}`);
    [locks, handlers] = [app.get(LockService), app.get(Handlers)];
    close = () => app.close();
  });

  afterEach(async () => {
    client.destroy();
    await elsewhere.close();
    await close();
  });

  /** Resolves once the server has heard of it. */
  async function reset(request: ClientHttp2Stream): Promise<void> {
    request.close(constants.NGHTTP2_CANCEL);
    await once(request, 'close');
    await new Promise<void>((resolve, reject) => client.ping((error) => (error ? reject(error) : resolve()))); // prettier-ignore
  }

  async function start(path: string): Promise<ClientHttp2Stream> {
    const request = client.request({ ':path': `/${path}` });
    request.on('error', () => {}); // of the reset
    await arrived.promise;
    return request;
  }

  it.each(['waits', 'waits-before'])(
    'before it waits for its lock does not wait: %s',
    async (path) => {
      const held = await elsewhere.acquire('key');
      await reset(await start(path));
      goOn.resolve();
      await until(() => store.waiters === 0);
      await held.release();
      await elsewhere.withLock('key', () => undefined);
      expect(handlers.ran).toBe(0);
    },
  );

  const beforeItSends = async (path: string) => {
    await reset(await start(path));
    goOn.resolve();
    await until(async () => (await locks.inspect('key')) === undefined);
  };

  it.each(['iterable', 'stream', 'file', 'observable', 'piped'])(
    'before its handler sends what never comes frees its lock: %s',
    beforeItSends,
  );

  itUnsubscribes.each(['pipes-later', 'sends-later'])(
    'before its handler answers itself with what never comes frees its lock: %s',
    beforeItSends,
  );

  itUnsubscribes('while its handler sends what never comes frees its lock', async () => {
    await reset(await start('pipes-at-once'));
    await until(async () => (await locks.inspect('key')) === undefined);
  });
});
