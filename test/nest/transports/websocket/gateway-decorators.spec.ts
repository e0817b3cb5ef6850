import { once } from 'node:events';
import { type ArgumentsHost, Catch, type ExceptionFilter, UseFilters } from '@nestjs/common';
import {
  ConnectedSocket,
  MessageBody,
  SubscribeMessage,
  WebSocketGateway,
  WsException,
} from '@nestjs/websockets';
import { WsAdapter } from '@nestjs/platform-ws';
import { DistributedLock, LockService } from 'nest-holdfast';
import { WebSocket } from 'ws';
import { startApp, type TestApp } from '../../support/test-app.js';

interface Message {
  readonly id?: number;
}

/** Nest 10 and 11 raise errors on the socket object itself, where no client sees them. */
@Catch(WsException)
class SendError implements ExceptionFilter<WsException> {
  catch(error: WsException, host: ArgumentsHost) {
    const client = host.switchToWs().getClient<WebSocket>();
    client.send(JSON.stringify({ event: 'exception', data: error.getError() }));
  }
}

@UseFilters(SendError)
@WebSocketGateway({ path: '/ws' })
class Gateway {
  constructor(readonly locks: LockService) {}

  @DistributedLock('above:<request.data.id>')
  @SubscribeMessage('above')
  async above(@ConnectedSocket() _client: unknown, @MessageBody() message: Message) {
    return { event: 'above', data: { ...message, key: this.locks.current()?.key } };
  }

  @SubscribeMessage('below')
  @DistributedLock('below:<message.id>')
  async below(@MessageBody() message: Message) {
    return { event: 'below', data: { ...message, key: this.locks.current()?.key } };
  }

  @DistributedLock('busy', { waitTimeout: 0 })
  @SubscribeMessage('busy')
  async busy() {}
}

describe('handlers of a WebSocket gateway', () => {
  let app: TestApp;
  let socket: WebSocket;

  beforeAll(async () => {
    app = await startApp({
      providers: [Gateway],
      prepare: (each) => each.useWebSocketAdapter(new WsAdapter(each)),
    });
    const url = await app.app.getUrl();
    socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
    await once(socket, 'open');
  });
  afterAll(async () => {
    socket.terminate();
    await app[Symbol.asyncDispose]();
  });
  beforeEach(() => app.takeLog());

  const ask = async (event: string, data: Message): Promise<unknown> => {
    const answer = once(socket, 'message');
    socket.send(JSON.stringify({ event, data }));
    const [message] = (await answer) as unknown[];
    return JSON.parse(String(message));
  };

  it.each(['above', 'below'])('keep their event, with the lock %s it', async (event) => {
    expect(await ask(event, { id: 7 })).toEqual({ event, data: { id: 7, key: `${event}:7` } });
    expect(app.log).toEqual([`+${event}:7`, `-${event}:7`]);
  });

  it('tell the client that the key is held', async () => {
    await app.elsewhere.withLock('busy', async () => {
      expect(await ask('busy', {})).toMatchObject({
        event: 'exception',
        data: { code: 'LOCK_TIMEOUT', statusCode: 409 },
      });
    });
  });

  it('tell the client that its key is bad', async () => {
    expect(await ask('above', {})).toMatchObject({ data: { code: 'LOCK_KEY_INVALID' } });
  });
});
