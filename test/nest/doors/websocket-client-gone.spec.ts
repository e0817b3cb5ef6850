import { once } from 'node:events';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { WsAdapter } from '@nestjs/platform-ws';
import { DistributedLock, LockService } from 'nest-holdfast';
import { concat, NEVER, type Observable, of } from 'rxjs';
import { WebSocket } from 'ws';
import { until } from '../../support/until.js';
import { NestLog } from './events-log.js';
import { type Door, openDoor } from './support/door-app.js';

interface Message {
  readonly id: number;
}

const PATIENT = { waitTimeout: Infinity };

@WebSocketGateway({ path: '/ws' })
class Gateway {
  ran: string[] = [];

  constructor(readonly locks: LockService) {}

  @SubscribeMessage('endless')
  @DistributedLock('order:<message.id>', PATIENT)
  endless(@MessageBody() message: Message): Observable<object> {
    return concat(of(this.note('endless', message)), NEVER);
  }

  @SubscribeMessage('below')
  @DistributedLock('order:<message.id>', PATIENT)
  async below(@MessageBody() message: Message) {
    return this.note('below', message);
  }

  @DistributedLock('order:<message.id>', PATIENT)
  @SubscribeMessage('above')
  async above(@MessageBody() message: Message) {
    return this.note('above', message);
  }

  @SubscribeMessage('stream')
  @DistributedLock('order:<message.id>', PATIENT)
  stream(@MessageBody() message: Message): Observable<object> {
    return of(this.note('stream', message));
  }

  @SubscribeMessage('before pipes')
  @DistributedLock('order:<request.data.id>', { ...PATIENT, before: 'pipes' })
  async beforePipes(@MessageBody() message: Message) {
    return this.note('before pipes', message);
  }

  private note(event: string, { id }: Message) {
    const key = this.locks.current()?.key;
    this.ran.push(`${event} ${id}`);
    return { event, data: { id, key } };
  }
}

describe('a WebSocket client that goes away', () => {
  let door: Door;
  let log: NestLog;
  let socket: WebSocket;

  beforeAll(async () => {
    door = await openDoor({
      providers: [Gateway],
      prepare: (app) => app.useWebSocketAdapter(new WsAdapter(app)),
    });
  });
  afterAll(() => door[Symbol.asyncDispose]());
  beforeEach(async () => {
    log = new NestLog();
    door.app.useLogger(log);
    door.get(Gateway).ran = [];
    door.takeLog();
    socket = await connected();
  });
  afterEach(() => {
    socket.terminate();
    log[Symbol.dispose]();
    door.control.reset();
  });

  const connected = async () => {
    const client = new WebSocket(`${(await door.app.getUrl()).replace('http', 'ws')}/ws`);
    await once(client, 'open');
    return client;
  };
  const send = (event: string) => socket.send(JSON.stringify({ event, data: { id: 7 } }));
  const ask = async (event: string): Promise<unknown> => {
    const answer = once(socket, 'message');
    send(event);
    const [message] = (await answer) as unknown[];
    return JSON.parse(String(message));
  };

  it('ends its stream, and frees its lock', async () => {
    await ask('endless');
    expect(door.control.held()).toEqual(['order:7']);
    socket.terminate();
    await until(() => door.control.held().length === 0);
    expect(door.log).toEqual(['+order:7', '-order:7']);
  });

  it.each(['above', 'below', 'stream', 'before pipes'])('ends its wait: %s', async (event) => {
    door.control.hold('order:7');
    send(event);
    await door.control.untilWaiting('order:7');
    socket.terminate();
    await until(() => door.control.waiters() === 0);
    door.control.free('order:7');
    expect(door.log).toEqual([]);
    expect(door.get(Gateway).ran).toEqual([]);
    expect(log.errors).toEqual([]);
  });

  it('does not disturb the others', async () => {
    const held = door.control.hold('order:7');
    const leaving = await connected();
    leaving.send(JSON.stringify({ event: 'below', data: { id: 7 } }));
    await door.control.untilWaiting('order:7', 1);
    const answer = ask('below');
    await door.control.untilWaiting('order:7', 2);
    leaving.terminate();
    await until(() => door.control.waiters() === 1);
    held.release();
    expect(await answer).toEqual({ event: 'below', data: { id: 7, key: 'order:7' } });
    expect(door.get(Gateway).ran).toEqual(['below 7']);
  });
});
