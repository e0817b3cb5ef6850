import { once } from 'node:events';
import {
  ConnectedSocket,
  MessageBody,
  SubscribeMessage,
  WebSocketGateway,
} from '@nestjs/websockets';
import { DistributedLock, LockService } from 'nest-holdfast';
import { concat, NEVER, type Observable, of } from 'rxjs';
import { until } from '../../../support/until.js';
import { ERROR_NAMES } from '../events/events-log.js';
import { SocketApp } from '../support/socket-app.js';
import { TROUBLES, type Trouble } from '../support/troubles.js';

interface Message {
  readonly id: number;
}

const AT_ONCE = { waitTimeout: 0 };

@WebSocketGateway({ path: '/ws' })
class Gateway {
  ran: string[] = [];

  constructor(readonly locks: LockService) {}

  @DistributedLock('order:<request.data.id>', AT_ONCE)
  @SubscribeMessage('above')
  async above(@ConnectedSocket() _client: unknown, @MessageBody() message: Message) {
    return this.note('above', message);
  }

  @SubscribeMessage('below')
  @DistributedLock('order:<message.id>', AT_ONCE)
  async below(@MessageBody() message: Message) {
    return this.note('below', message);
  }

  @DistributedLock('order:<message.id>', AT_ONCE)
  @SubscribeMessage('stream above')
  streamAbove(@MessageBody() message: Message): Observable<object> {
    return of(this.note('stream above', message));
  }

  @SubscribeMessage('stream below')
  @DistributedLock('order:<message.id>', AT_ONCE)
  streamBelow(@MessageBody() message: Message): Observable<object> {
    return of(this.note('stream below', message));
  }

  @SubscribeMessage('generator')
  @DistributedLock('order:<message.id>', AT_ONCE)
  async *generator(@MessageBody() message: Message) {
    yield this.note('generator', message);
  }

  @SubscribeMessage('endless')
  @DistributedLock('order:<message.id>', AT_ONCE)
  endless(@MessageBody() message: Message): Observable<object> {
    return concat(of(this.note('endless', message)), NEVER);
  }

  private note(event: string, { id }: Message) {
    const key = this.locks.current()?.key;
    this.ran.push(`${id} under ${key}`);
    return { event, data: { id, key } };
  }
}

/** The data of the event `exception` that the client gets. */
const ANSWERS: Record<Trouble['name'], (event: string) => object> = {
  busy: () => ({
    statusCode: 409,
    code: 'LOCK_TIMEOUT',
    message: 'The lock is held',
  }),
  down: () => ({
    statusCode: 503,
    code: 'LOCK_STORE_FAILED',
    message: 'The lock store is not available',
  }),
  lost: (event) => ({
    status: 'error',
    message: 'Internal server error',
    cause: { pattern: event, data: { id: 7 } },
  }),
};

describe('messages over WebSocket', () => {
  const ws = new SocketApp(Gateway, (transport) => (transport.get(Gateway).ran = []));

  // Promises that are granted their lock: gateway-decorators.spec.ts.
  it.each(['stream above', 'stream below'])('a stream runs under its lock: %s', async (event) => {
    expect(await ws.ask(event)).toEqual({ event, data: { id: 7, key: 'order:7' } });
    await until(() => ws.transport.control.held().length === 0);
    expect(ws.transport.log).toEqual(['+order:7', '-order:7']);
  });

  describe.each(TROUBLES)('$name', ({ name, strike, hasRun }) => {
    it.each(['above', 'below'])('the client is told, with the lock %s', async (event) => {
      strike(ws.transport.control, 'order:7');
      expect(await ws.ask(event)).toEqual({ event: 'exception', data: ANSWERS[name](event) });
      expect(ws.transport.get(Gateway).ran).toEqual(hasRun ? ['7 under order:7'] : []);
      expect(ws.transport.control.held()).toEqual([]);
      if (name === 'lost')
        await ws.log.untilError("'WsExceptionsHandler'", ERROR_NAMES.lost, 'order:7');
    });
  });

  it.each(['busy', 'down'] as const)('the reader of a stream is told: %s', async (name) => {
    TROUBLES.find((each) => each.name === name)!.strike(ws.transport.control, 'order:7');
    expect(await ws.ask('stream above')).toEqual({ event: 'exception', data: ANSWERS[name]('') });
  });

  it('refuses a generator, which Nest does not send', async () => {
    expect(await ws.ask('generator')).toEqual({
      event: 'exception',
      data: ANSWERS.lost('generator'),
    });
    await ws.log.untilError('only HTTP handlers and GraphQL subscriptions send');
    expect(ws.transport.control.held()).toEqual([]);
  });

  it('a stream ends when its lock is lost', async () => {
    await ws.ask('endless');
    expect(ws.transport.control.held()).toEqual(['order:7']);
    const next = once(ws.socket, 'message');
    ws.transport.control.lose('order:7');
    const [message] = (await next) as unknown[];
    expect(JSON.parse(String(message))).toEqual({
      event: 'exception',
      data: ANSWERS.lost('endless'),
    });
  });
});
