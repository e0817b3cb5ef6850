import { get, type Server } from 'node:http';
import { promisify } from 'node:util';
import { Controller, Get, Injectable, type PipeTransform, Res } from '@nestjs/common';
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Args, Mutation, Query, Resolver } from '@nestjs/graphql';
import { DistributedLock, MemoryLockStore } from 'nest-holdfast';
import { FakeClock } from 'nest-holdfast/testing';
import { NEVER, type Observable } from 'rxjs';
import { freePort } from '../../../support/processes/free-port.js';
import { until } from '../../../support/until.js';
import { ADAPTERS, startApp } from '../../support/test-app.js';
import { Deferred } from '../../support/deferred.js';
import { openTransport, type TransportApp } from '../support/transport-app.js';
import { openGraphql } from '../support/graphql-app.js';
import { SocketApp } from '../support/socket-app.js';

/** The work of the handlers of all transports. */
class Work {
  static now = new Work();
  readonly begun = new Deferred();
  readonly done = new Deferred();
  response: { end(): void } | undefined;
  ended = false;
  failure: unknown;

  async pay(): Promise<string> {
    this.begun.resolve();
    await this.done.promise;
    this.ended = true;
    return 'paid';
  }

  answer(response: { raw?: { end(): void }; end(): void }): void {
    this.response = response.raw ?? response;
    this.begun.resolve();
  }
}

const KEY = 'order:7';

/** The handler works on for a client that has left: its lock is held until then. */
async function staysLocked(
  transport: TransportApp,
  leave: () => void,
  hasLeft: (transport: TransportApp) => Promise<unknown>,
) {
  await Work.now.begun.promise;
  leave();
  await hasLeft(transport);
  await new Promise(setImmediate);
  expect(await transport.isFree(KEY)).toBe(false);
  Work.now.done.resolve();
  Work.now.response?.end();
  await until(() => transport.isFree(KEY));
}

/** The server has seen every client go. */
function untilAlone({ app }: TransportApp): Promise<boolean> {
  const server = app.getHttpServer() as Server;
  return until(async () => (await promisify(server.getConnections.bind(server))()) === 0);
}

@Controller()
class Payments {
  @Get('promise')
  @DistributedLock(KEY)
  async promise() {
    return Work.now.pay();
  }

  @Get('before')
  @DistributedLock(KEY, { before: 'pipes' })
  async before() {
    return Work.now.pay();
  }

  @Get('own-response')
  @DistributedLock(KEY)
  ownResponse(@Res() response: { end(): void }): Observable<unknown> {
    Work.now.answer(response);
    return NEVER;
  }
}

describe.each(ADAPTERS)('an HTTP client that hangs up, on %s', (adapter) => {
  let transport: TransportApp;
  beforeAll(
    async () => void (transport = await openTransport({ adapter, controllers: [Payments] })),
  );
  afterAll(() => transport[Symbol.asyncDispose]());
  beforeEach(() => void (Work.now = new Work()));

  it.each(['promise', 'before', 'own-response'])('frees nothing: %s', async (path) => {
    const request = get(`${await transport.app.getUrl()}/${path}`).on('error', () => {});
    await staysLocked(transport, () => request.destroy(), untilAlone);
  });
});

it.each(['promise', 'before'])(
  'a handler that hangs has its lock for five minutes: %s',
  async (path) => {
    Work.now = new Work();
    const clock = new FakeClock();
    const lockOptions = { clock, store: new MemoryLockStore(clock) };
    await using app = await startApp({ controllers: [Payments], lockOptions });
    const answer = app.http.get(`/${path}`).then(({ status }) => status);
    await Work.now.begun.promise;
    await clock.advance(299_000);
    expect(await app.isFree(KEY)).toBe(false);
    await clock.advance(1_000);
    expect(await app.isFree(KEY)).toBe(true);
    Work.now.done.resolve();
    expect(await answer).toBe(500);
  },
);

@Injectable()
class SlowPipe implements PipeTransform {
  async transform(value: unknown) {
    Work.now.begun.resolve();
    await Work.now.done.promise;
    return value;
  }
}

@WebSocketGateway({ path: '/ws' })
class Gateway {
  @SubscribeMessage('promise')
  @DistributedLock(KEY)
  async promise() {
    return Work.now.pay();
  }

  @SubscribeMessage('before')
  @DistributedLock(KEY, { before: 'pipes' })
  async before() {
    return Work.now.pay();
  }

  @SubscribeMessage('piped')
  @DistributedLock(KEY, { before: 'pipes' })
  async piped(@MessageBody(SlowPipe) _message: object) {
    Work.now.ended = true;
  }
}

describe('a WebSocket client that hangs up', () => {
  const ws = new SocketApp(Gateway, () => (Work.now = new Work()));
  const closed = async () => {
    await until(() => ws.socket.readyState === 3);
    (await ws.connected()).close();
  };

  it.each(['promise', 'before'])('frees nothing: %s', async (event) => {
    ws.send(event);
    await staysLocked(ws.transport, () => ws.socket.terminate(), closed);
    expect(Work.now.ended).toBe(true);
  });

  it('while the pipes of its message are at work: the handler never runs without the lock', async () => {
    ws.send('piped');
    await Work.now.begun.promise;
    ws.socket.terminate();
    await until(() => ws.transport.isFree(KEY));
    Work.now.done.resolve();
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    expect(Work.now.ended).toBe(false);
  });
});

@Resolver()
class Resolvers {
  @Query(() => String)
  async state(): Promise<string> {
    return 'open';
  }

  @Mutation(() => String)
  @DistributedLock(KEY)
  async pay(@Args('id') _id: string): Promise<string> {
    return Work.now.pay();
  }
}

it('a GraphQL client that hangs up frees nothing', async () => {
  Work.now = new Work();
  await using transport = await openGraphql({}, { providers: [Resolvers] });
  const client = new AbortController();
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ query: 'mutation { pay(id: "7") }' });
  const url = `${await transport.app.getUrl()}/graphql`;
  fetch(url, { method: 'POST', headers, body, signal: client.signal }).catch(() => {});
  await staysLocked(transport, () => client.abort(), untilAlone);
});

@Controller()
class Messages {
  @MessagePattern('pay')
  @DistributedLock(KEY)
  async pay() {
    return Work.now.pay();
  }
}

it('a caller over TCP that hangs up frees nothing', async () => {
  Work.now = new Work();
  const options = { host: '127.0.0.1', port: await freePort() };
  await using transport = await openTransport({
    controllers: [Messages],
    prepare: async (app) => {
      app.connectMicroservice({ transport: Transport.TCP, options });
      await app.startAllMicroservices();
    },
  });
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  client.send('pay', {}).subscribe({ error: () => {} }); // of the connection
  await staysLocked(
    transport,
    () => void client.close(),
    async () => {},
  );
});
