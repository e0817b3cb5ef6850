import { Readable } from 'node:stream';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { DistributedLock } from 'nest-holdfast';
import { until } from '../../../support/until.js';
import { SocketApp } from '../support/socket-app.js';

interface Message {
  readonly id: number;
}

const KEY = 'order:<0.id>';
const AT_ONCE = { waitTimeout: 0 };

/** None of these is sent by Nest, which answers `{}` in their place. */
@WebSocketGateway({ path: '/ws' })
class Gateway {
  begun = 0;

  @SubscribeMessage('promise of an iterable')
  @DistributedLock(KEY, AT_ONCE)
  async promised(@MessageBody() _message: Message) {
    return this.#rows();
  }

  @SubscribeMessage('iterable')
  @DistributedLock(KEY, AT_ONCE)
  plain(@MessageBody() _message: Message): AsyncIterable<string> {
    return this.#rows();
  }

  @SubscribeMessage('iterable that is said to be one')
  @DistributedLock(KEY, { ...AT_ONCE, returns: 'iterable' })
  told(@MessageBody() _message: Message): AsyncIterable<string> {
    return this.#rows();
  }

  @SubscribeMessage('generator')
  @DistributedLock(KEY, AT_ONCE)
  async *generator(@MessageBody() _message: Message) {
    yield* this.#rows();
  }

  @SubscribeMessage('stream of Node')
  @DistributedLock(KEY, AT_ONCE)
  async readable(@MessageBody() _message: Message) {
    return Readable.from(this.#rows());
  }

  @SubscribeMessage('stream of the web')
  @DistributedLock(KEY, AT_ONCE)
  async web(@MessageBody() _message: Message) {
    return ReadableStream.from(this.#rows());
  }

  @DistributedLock('order:<request.data.id>', { ...AT_ONCE, before: 'pipes' })
  @SubscribeMessage('iterable behind the interceptor')
  async behind(@MessageBody() _message: Message) {
    return this.#rows();
  }

  async *#rows() {
    this.begun++;
    yield 'row';
  }
}

describe('an iterable result of a gateway', () => {
  const ws = new SocketApp(Gateway, (transport) => (transport.get(Gateway).begun = 0));

  it.each([
    'promise of an iterable',
    'iterable',
    'iterable that is said to be one',
    'generator',
    'stream of Node',
    'stream of the web',
    'iterable behind the interceptor',
  ])('is refused, and keeps no lock: %s', async (event) => {
    expect(await ws.ask(event)).toMatchObject({
      event: 'exception',
      data: { status: 'error', message: 'Internal server error' },
    });
    await ws.log.untilError('only HTTP handlers and GraphQL subscriptions send');
    await until(() => ws.transport.control.held().length === 0);
    expect(ws.transport.get(Gateway).begun).toBe(0);
  });
});
