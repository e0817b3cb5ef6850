import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { DistributedLock, LockService } from 'nest-holdfast';
import { concat, NEVER, type Observable, of } from 'rxjs';
import { until } from '../../../support/until.js';
import { SocketApp } from '../support/socket-app.js';

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
  const ws = new SocketApp(Gateway, (transport) => (transport.get(Gateway).ran = []));

  it('ends its stream, and frees its lock', async () => {
    await ws.ask('endless');
    expect(ws.transport.control.held()).toEqual(['order:7']);
    ws.socket.terminate();
    await until(() => ws.transport.control.held().length === 0);
    expect(ws.transport.log).toEqual(['+order:7', '-order:7']);
  });

  it.each(['above', 'below', 'stream', 'before pipes'])('ends its wait: %s', async (event) => {
    ws.transport.control.hold('order:7');
    ws.send(event);
    await ws.transport.control.untilWaiting('order:7');
    ws.socket.terminate();
    await until(() => ws.transport.control.waiters() === 0);
    ws.transport.control.free('order:7');
    expect(ws.transport.log).toEqual([]);
    expect(ws.transport.get(Gateway).ran).toEqual([]);
    expect(ws.log.errors).toEqual([]);
  });

  it('does not disturb the others', async () => {
    const held = ws.transport.control.hold('order:7');
    const leaving = await ws.connected();
    ws.send('below', leaving);
    await ws.transport.control.untilWaiting('order:7', 1);
    const answer = ws.ask('below');
    await ws.transport.control.untilWaiting('order:7', 2);
    leaving.terminate();
    await until(() => ws.transport.control.waiters() === 1);
    held.release();
    expect(await answer).toEqual({ event: 'below', data: { id: 7, key: 'order:7' } });
    expect(ws.transport.get(Gateway).ran).toEqual(['below 7']);
  });
});
