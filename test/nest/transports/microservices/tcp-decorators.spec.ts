import { Controller, UseGuards, UseInterceptors, type CanActivate } from '@nestjs/common';
import {
  type ClientProxy,
  ClientProxyFactory,
  EventPattern,
  MessagePattern,
  Payload,
  RpcException,
  type TcpOptions,
  Transport,
} from '@nestjs/microservices';
import { DistributedLock, LockService } from 'nest-holdfast';
import { firstValueFrom, from, lastValueFrom, map, type Observable, toArray } from 'rxjs';
import { freePort } from '../../../support/processes/free-port.js';
import { until } from '../../../support/until.js';
import { startApp, type TestApp } from '../../support/test-app.js';

class Refuse implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

class Double {
  intercept(_context: unknown, next: { handle(): Observable<number> }) {
    return next.handle().pipe(map((n) => 2 * n));
  }
}

@Controller()
class Messages {
  events: string[] = [];

  constructor(readonly locks: LockService) {}

  @DistributedLock('message:<request.data.id>')
  @MessagePattern('above')
  async above(@Payload() message: { id: number }) {
    return { id: message.id, key: this.locks.current()?.key };
  }

  @MessagePattern('below')
  @DistributedLock('message:<message.id>')
  async below(@Payload() message: { id: number }) {
    return { id: message.id, key: this.locks.current()?.key };
  }

  @MessagePattern('before')
  @DistributedLock('message:<request.data.id>', { before: 'pipes' })
  async before(@Payload('id') id: number) {
    return { id, key: this.locks.current()?.key };
  }

  @DistributedLock('stream:<message.id>')
  @MessagePattern('stream')
  stream(@Payload() message: { id: number }): Observable<number> {
    return from([1, 2, message.id]);
  }

  @UseInterceptors(Double)
  @DistributedLock('doubled')
  @MessagePattern('doubled')
  async doubled() {
    return 21;
  }

  @UseGuards(Refuse)
  @DistributedLock('refused')
  @MessagePattern('refused')
  async refused() {}

  @EventPattern('happened')
  @DistributedLock('event:<event.id>')
  async happened(@Payload() event: { id: number }) {
    this.events.push(`${event.id} under ${this.locks.current()?.key}`);
  }

  @DistributedLock('busy', { waitTimeout: 0 })
  @MessagePattern('busy')
  async busy() {}

  @DistributedLock('busy', { waitTimeout: 0 })
  @MessagePattern('busy-stream')
  busyStream(): Observable<number> {
    return from([1]);
  }

  @DistributedLock('key:<request.data.id>')
  @MessagePattern('bad-key')
  async badKey() {}

  @DistributedLock('fails')
  @MessagePattern('fails')
  async fails() {
    throw new RpcException({ own: 'error' });
  }
}

describe('handlers of messages, over real TCP', () => {
  let app: TestApp;
  let client: ClientProxy;

  beforeAll(async () => {
    const options = { host: '127.0.0.1', port: await freePort() };
    app = await startApp({
      controllers: [Messages],
      providers: [Refuse, Double],
      async prepare(each) {
        each.connectMicroservice<TcpOptions>({ transport: Transport.TCP, options });
        await each.startAllMicroservices();
      },
    });
    client = ClientProxyFactory.create({ transport: Transport.TCP, options });
    await client.connect();
  });
  afterAll(async () => {
    await client.close();
    await app[Symbol.asyncDispose]();
  });
  beforeEach(() => app.takeLog());

  const send = (pattern: string, data: object = { id: 7 }): Promise<unknown> =>
    firstValueFrom(client.send<unknown>(pattern, data));

  it.each(['above', 'below', 'before'])('keep their pattern, with the lock %s it', async (name) => {
    expect(await send(name)).toEqual({ id: 7, key: 'message:7' });
    expect(app.log).toEqual(['+message:7', '-message:7']);
  });

  it('hold the lock until a stream ends', async () => {
    const values = client.send<number>('stream', { id: 7 }).pipe(toArray());
    expect(await lastValueFrom(values)).toEqual([1, 2, 7]);
    expect(app.log).toEqual(['+stream:7', '-stream:7']);
  });

  it('keep interceptors and guards', async () => {
    expect(await send('doubled')).toBe(42);
    app.takeLog();
    await expect(send('refused')).rejects.toMatchObject({ message: 'Forbidden resource' });
    expect(app.log).toEqual([]);
  });

  it('keep events', async () => {
    await lastValueFrom(client.emit('happened', { id: 7 }), { defaultValue: undefined });
    await until(() => app.get(Messages).events.includes('7 under event:7'));
  });

  it.each(['busy', 'busy-stream'])('tell the caller that the key is held: %s', async (pattern) => {
    await app.elsewhere.withLock('busy', async () => {
      await expect(send(pattern)).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', statusCode: 409 });
    });
  });

  it('tell the caller that its key is bad', async () => {
    const refused = expect(send('bad-key', {})).rejects;
    await refused.toMatchObject({ code: 'LOCK_KEY_INVALID', statusCode: 400 });
  });

  it('keep errors what they are', async () => {
    await expect(send('fails')).rejects.toEqual({ own: 'error' });
  });
});
