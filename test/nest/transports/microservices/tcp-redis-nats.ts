import { Readable } from 'node:stream';
import { Controller } from '@nestjs/common';
import {
  type ClientOptions,
  type ClientProxy,
  ClientProxyFactory,
  EventPattern,
  MessagePattern,
  type MicroserviceOptions,
  Payload,
} from '@nestjs/microservices';
import { DistributedLock, LockService } from 'nest-holdfast';
import { concat, firstValueFrom, lastValueFrom, NEVER, type Observable, of, toArray } from 'rxjs';
import { until } from '../../../support/until.js';
import { ERROR_NAMES, NestLog } from '../events/events-log.js';
import { type TransportApp, openTransport } from '../support/transport-app.js';
import { TROUBLES, type Trouble } from '../support/troubles.js';

interface Message {
  readonly id: number;
}

const AT_ONCE = { waitTimeout: 0 };
/** Milliseconds. */
const WAIT = 200;

@Controller()
class Messages {
  ran: string[] = [];

  constructor(readonly locks: LockService) {}

  @DistributedLock('message:<request.data.id>', AT_ONCE)
  @MessagePattern('request.above')
  async requestAbove(@Payload() message: Message) {
    return this.note(message);
  }

  @MessagePattern('request.below')
  @DistributedLock('message:<message.id>', AT_ONCE)
  async requestBelow(@Payload() message: Message) {
    return this.note(message);
  }

  @DistributedLock('message:<message.id>', AT_ONCE)
  @MessagePattern('stream.above')
  streamAbove(@Payload() message: Message): Observable<Message> {
    return of(this.note(message), message);
  }

  @MessagePattern('stream.below')
  @DistributedLock('message:<message.id>', AT_ONCE)
  streamBelow(@Payload() message: Message): Observable<Message> {
    return of(this.note(message), message);
  }

  @DistributedLock('message:<message.id>', AT_ONCE)
  @MessagePattern('iterable')
  async iterable(@Payload() message: Message) {
    return Readable.from([this.note(message)]);
  }

  @MessagePattern('generator')
  @DistributedLock('message:<message.id>', AT_ONCE)
  async *generator(@Payload() message: Message) {
    yield this.note(message);
  }

  @MessagePattern('endless')
  @DistributedLock('message:<message.id>', AT_ONCE)
  endless(@Payload() message: Message): Observable<Message> {
    return concat(of(this.note(message)), NEVER);
  }

  @DistributedLock('message:<message.id>', AT_ONCE)
  @EventPattern('event.above')
  async eventAbove(@Payload() message: Message) {
    this.note(message);
  }

  @EventPattern('event.below')
  @DistributedLock('message:<request.data.id>', AT_ONCE)
  async eventBelow(@Payload() message: Message) {
    this.note(message);
  }

  @MessagePattern('patient')
  @DistributedLock('message:<message.id>', { waitTimeout: WAIT })
  async patient(@Payload() message: Message) {
    return this.note(message);
  }

  @MessagePattern('endlessly.patient')
  @DistributedLock('message:<message.id>', { waitTimeout: Infinity })
  async endlesslyPatient(@Payload() message: Message) {
    return this.note(message);
  }

  private note(message: Message) {
    const key = this.locks.current()?.key;
    this.ran.push(`${message.id} under ${key}`);
    return { id: message.id, key };
  }
}

/** The answers to the caller of a request. */
const ANSWERS: Record<Trouble['name'], unknown> = {
  busy: {
    statusCode: 409,
    code: 'LOCK_TIMEOUT',
    message: 'The lock is held',
  },
  down: {
    statusCode: 503,
    code: 'LOCK_STORE_FAILED',
    message: 'The lock store is not available',
  },
  lost: { status: 'error', message: 'Internal server error' },
};

export interface Transporter {
  readonly options: MicroserviceOptions;
  /** The broker between the two sides, where the transport has one. */
  readonly broker?: AsyncDisposable;
}

export interface MessageTransportOptions {
  readonly open: () => Promise<Transporter>;
  /** Whether Nest tells a handler that its caller has gone. */
  readonly tellsOfLeaving: boolean;
}

/** The checks of message handlers that hold on every transport. */
export function itLocksMessages({ open, tellsOfLeaving }: MessageTransportOptions): void {
  let transporter: Transporter;
  let transport: TransportApp;
  let client: ClientProxy;
  let log: NestLog;

  beforeAll(async () => {
    transporter = await open();
    transport = await openTransport({
      controllers: [Messages],
      async prepare(app) {
        app.connectMicroservice<MicroserviceOptions>(transporter.options);
        await app.startAllMicroservices();
      },
    });
    client = await connectedClient();
  });
  afterAll(async () => {
    await client?.close();
    await transport?.[Symbol.asyncDispose]();
    await transporter?.broker?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    log = new NestLog();
    transport.app.useLogger(log);
    transport.takeLog();
    transport.get(Messages).ran = [];
  });
  afterEach(() => {
    log[Symbol.dispose]();
    transport.control.reset();
  });

  const connectedClient = async () => {
    const proxy: ClientProxy = ClientProxyFactory.create(transporter.options as ClientOptions);
    await proxy.connect();
    return proxy;
  };
  const ran = () => transport.get(Messages).ran;
  const ask = (pattern: string): Promise<unknown> =>
    firstValueFrom(client.send<unknown>(pattern, { id: 7 }));
  const emit = (pattern: string) =>
    lastValueFrom(client.emit(pattern, { id: 7 }), { defaultValue: undefined });

  it.each(['iterable', 'generator'])('refuses what Nest does not send: %s', async (pattern) => {
    await expect(ask(pattern)).rejects.toEqual(ANSWERS.lost);
    await log.untilError('only HTTP handlers and GraphQL subscriptions send: return an Observable');
    expect(transport.control.held()).toEqual([]);
  });

  describe.each(['above', 'below'])('with the lock %s the pattern', (where) => {
    it('a request has its answer', async () => {
      expect(await ask(`request.${where}`)).toEqual({ id: 7, key: 'message:7' });
      expect(transport.log).toEqual(['+message:7', '-message:7']);
    });

    it.each(TROUBLES)('the caller hears: $name', async ({ name, strike, hasRun }) => {
      strike(transport.control, 'message:7');
      await expect(ask(`request.${where}`)).rejects.toEqual(ANSWERS[name]);
      expect(ran()).toEqual(hasRun ? ['7 under message:7'] : []);
      expect(transport.control.held()).toEqual([]);
    });

    it.each(TROUBLES)('the reader of a stream hears: $name', async ({ name, strike }) => {
      strike(transport.control, 'message:7');
      const stream = client.send<unknown>(`stream.${where}`, { id: 7 }).pipe(toArray());
      await expect(lastValueFrom(stream)).rejects.toEqual(ANSWERS[name]);
      expect(transport.control.held()).toEqual([]);
    });

    it('an event is handled under the lock', async () => {
      await emit(`event.${where}`);
      await until(() => transport.log.length === 2);
      expect(transport.log).toEqual(['+message:7', '-message:7']);
      expect(ran()).toEqual(['7 under message:7']);
    });

    it.each(TROUBLES)('no caller waits for an event, so the log has: $name', async (trouble) => {
      trouble.strike(transport.control, 'message:7');
      await emit(`event.${where}`);
      await log.untilError("'RpcExceptionsHandler'", ERROR_NAMES[trouble.name], 'message:7');
      expect(ran()).toEqual(trouble.hasRun ? ['7 under message:7'] : []);
    });
  });

  it('the log says what was lost, and the caller does not', async () => {
    transport.control.lose('message:7');
    await expect(ask('request.below')).rejects.toEqual(ANSWERS.lost);
    await log.untilError("'RpcExceptionsHandler'", 'LockLostError', 'message:7');
  });

  it('a stream ends when its lock is lost', async () => {
    const values: unknown[] = [];
    const ended = new Promise((resolve) => {
      client
        .send<unknown>('endless', { id: 7 })
        .subscribe({ next: (each) => values.push(each), error: resolve });
    });
    await until(() => values.length === 1);
    expect(transport.control.held()).toEqual(['message:7']);
    transport.control.lose('message:7');
    expect(await ended).toEqual(ANSWERS.lost);
    expect(values).toEqual([{ id: 7, key: 'message:7' }]);
  });

  /** Asks, and is gone once its handler waits for the key. Resolves with the time at which it asked. */
  const askAndLeave = async (pattern: string) => {
    const leaving = await connectedClient();
    const since = performance.now();
    leaving.send<unknown>(pattern, { id: 7 }).subscribe({ error: () => {} }); // of its own leaving
    await transport.control.untilWaiting('message:7');
    await leaving.close();
    return since;
  };
  const nothingRemains = async () => {
    await until(() => transport.control.waiters() === 0);
    transport.control.free('message:7');
    expect(ran()).toEqual([]);
    expect(transport.log).toEqual([]);
    expect(await ask('request.above')).toEqual({ id: 7, key: 'message:7' });
  };

  if (tellsOfLeaving) {
    it('the wait of a caller that has gone ends at once', async () => {
      transport.control.hold('message:7');
      await askAndLeave('endlessly.patient');
      await nothingRemains();
      expect(log.errors).toEqual([]);
    });
  } else {
    it('the server is not told that a caller has gone, so its wait ends by its waitTimeout', async () => {
      transport.control.hold('message:7');
      const since = await askAndLeave('patient');
      await until(() => transport.control.waiters() === 0);
      expect(performance.now() - since).toBeGreaterThan(WAIT - 5);
      await nothingRemains();
    });
  }
}
