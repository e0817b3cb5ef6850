import type { Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { PassThrough, pipeline, Readable } from 'node:stream';
import { Controller, Get, Next, Res, StreamableFile } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { CurrentLock, DistributedLock, type Lock } from 'nest-holdfast';
import { type Observable, of } from 'rxjs';
import { until } from '../../../support/until.js';
import { openTransport, type TransportApp } from '../support/transport-app.js';
import { Deferred } from '../../support/deferred.js';
import { HttpClient } from '../../support/http-client.js';
import { Rows } from '../../support/streaming.js';
import { ADAPTERS } from '../../support/test-app.js';

/** Of Express, or Fastify's reply. */
interface Response extends NodeJS.WritableStream {
  readonly raw?: Response;
  send(body: unknown): void;
  destroy(): void;
}

const raw = (response: Response) => response.raw ?? response;
/** More than the buffers of both ends take. */
const MUCH = 'x'.repeat(32 * 1024 * 1024);

@Controller()
class Handlers {
  /** The handler returns, and answers. */
  result = new Deferred();
  answer = new Deferred();

  constructor(readonly rows: Rows) {}

  @Get('ping')
  async ping() {
    return 'pong';
  }

  @Get('pending')
  async pending() {
    await this.result.promise;
  }

  @Get('later')
  @DistributedLock('export')
  async later(@Res() response: Response) {
    this.#answerLater(response);
  }

  @Get('before')
  @DistributedLock('export', { before: 'pipes' })
  async before(@Res() response: Response) {
    this.#answerLater(response);
  }

  @Get('observable')
  @DistributedLock('export')
  observable(@Res() response: Response): Observable<unknown> {
    this.#answerLater(response);
    return of('not sent');
  }

  @Get('works')
  @DistributedLock('export')
  async works(@Res() response: Response) {
    raw(response).write('sent');
    await this.result.promise;
    raw(response).end();
  }

  @Get('goes-on')
  @DistributedLock('export')
  async goesOn(@Res() response: Response) {
    raw(response).end('sent');
    await this.result.promise;
  }

  @Get('fails')
  @DistributedLock('export')
  async fails(@Res() _response: Response) {
    throw new Error('broken');
  }

  @Get('hangs-up')
  @DistributedLock('export')
  async hangsUp(@Res() response: Response) {
    raw(response).destroy();
  }

  @Get('sends')
  @DistributedLock('export')
  async sends(@Res() response: Response) {
    if (response.raw) response.send(Readable.from(this.rows.read()));
    else pipeline(Readable.from(this.rows.read()), response, () => {});
  }

  @Get('pipes')
  @DistributedLock('export')
  async pipes(@Res() response: Response) {
    Readable.from(this.rows.read()).pipe(raw(response));
  }

  @Get('pipes-shared')
  @DistributedLock('export')
  async pipesShared(@Res() response: Response) {
    const source = Readable.from(this.rows.read());
    source.pipe(new PassThrough()).resume();
    source.pipe(raw(response));
  }

  @Get('much')
  @DistributedLock('export')
  async much(@Res() response: Response) {
    raw(response).end(MUCH);
  }

  @Get('passthrough')
  @DistributedLock('export')
  async passthrough(@Res({ passthrough: true }) _response: Response) {
    return MUCH;
  }

  @Get('file')
  @DistributedLock('export')
  async file() {
    return new StreamableFile(Buffer.from(MUCH));
  }

  @Get('released')
  @DistributedLock('export')
  async released(@Res() response: Response, @CurrentLock() lock?: Lock) {
    await lock!.release();
    this.#answerLater(response);
  }

  #answerLater(response: Response): void {
    void this.answer.promise.then(() => raw(response).end('sent'));
  }
}

@Controller()
class WithMiddleware extends Handlers {
  @Get('next')
  @DistributedLock('export')
  async next(@Next() next: () => void) {
    next();
  }

  @Get('next')
  async afterNext() {
    await this.answer.promise;
    return 'sent';
  }
}

describe.each(ADAPTERS)('a locked handler that answers itself, on %s,', (adapter) => {
  let app: TransportApp;
  let handlers: Handlers;

  beforeAll(async () => {
    const controller = adapter === 'express' ? WithMiddleware : Handlers;
    app = await openTransport({ adapter, controllers: [controller], providers: [Rows] });
    handlers = app.get(controller);
  });
  afterAll(() => app[Symbol.asyncDispose]());
  beforeEach(() => {
    handlers.rows.reset();
    handlers.result = new Deferred();
    handlers.answer = new Deferred();
    app.takeLog();
  });
  afterEach(async () => {
    handlers.rows.flow();
    handlers.result.resolve();
    handlers.answer.resolve();
    await until(() => app.isFree('export'));
  });

  const get = (path: string) => HttpClient.get(app, path);
  const isFree = () => app.isFree('export');
  /** When everything that could happen without the test has happened. */
  const isHeldOn = async () => {
    await app.http.get('/ping').expect(200);
    return !(await isFree());
  };
  const begun = () => until(() => app.log.length > 0);

  it.each(['later', 'before', 'observable', ...(adapter === 'express' ? ['next'] : [])])(
    'holds the lock until it has answered: %s',
    async (path) => {
      const client = await get(path);
      await begun();
      expect(await isHeldOn()).toBe(true);
      handlers.answer.resolve();
      await until(() => client.end);
      expect(client.text).toBe('sent');
      await until(isFree);
    },
  );

  it.each(['works', 'goes-on'])('holds it until it is done: %s', async (path) => {
    const client = await get(path);
    await until(() => client.text === 'sent');
    expect(await isHeldOn()).toBe(true);
    handlers.result.resolve();
    await until(() => client.end);
    await until(isFree);
  });

  it.each(['works', 'goes-on'])('holds it after its client has left: %s', async (path) => {
    const client = await get(path);
    await until(() => client.text === 'sent');
    client.leave();
    expect(await isHeldOn()).toBe(true);
    handlers.result.resolve();
    await until(isFree);
  });

  it.each(['later', 'observable'])(
    'frees it when its client leaves and nothing answers: %s',
    async (path) => {
      const client = await get(path);
      await begun();
      client.leave();
      await until(isFree);
    },
  );

  it('frees it when its client leaves before its response is the next one', async () => {
    const { port } = (app.app.getHttpServer() as Server).address() as AddressInfo;
    const client = connect(port, '127.0.0.1');
    const head = (path: string) => `GET /${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    client.write(head('pending') + head('later'));
    await begun();
    expect(await isHeldOn()).toBe(true);
    client.destroy();
    await until(isFree);
  });

  it('frees it when it fails, or hangs up', async () => {
    await app.http.get('/fails').expect(500);
    await until(isFree);
    await expect(app.http.get('/hangs-up')).rejects.toThrow('socket hang up');
    await until(isFree);
  });

  it('ends with the lock, and does not look complete', async () => {
    const client = await get('pipes');
    await until(() => client.text === 'first\n');
    app.control.lose('export');
    await until(() => client.end);
    expect(client.end).toBe('cut');
  });

  it('may release it before', async () => {
    await get('released');
    await until(() => app.log.length === 2);
    expect(await isFree()).toBe(true);
  });

  describe.each(['sends', 'pipes', 'pipes-shared'])('that %s a stream', (path) => {
    it('holds it until that has been sent', async () => {
      const client = await get(path);
      await until(() => client.text === 'first\n');
      expect(await isHeldOn()).toBe(true);
      handlers.rows.flow();
      await until(() => client.end);
      expect(client.text).toBe('first\nsecond\n');
      await until(isFree);
    });
  });

  it.each(['sends', 'pipes-shared'])(
    'holds it after its client has left, until its stream has ended: %s',
    async (path) => {
      const client = await get(path);
      await until(() => client.text === 'first\n');
      client.leave();
      handlers.rows.second.resolve();
      await until(() => handlers.rows.isClosing);
      expect(await isHeldOn()).toBe(true);
      handlers.rows.cleanUp.resolve();
      await until(isFree);
    },
  );

  it('frees it after its client has left a stream without another reader', async () => {
    const client = await get('pipes');
    await until(() => client.text === 'first\n');
    client.leave();
    await until(isFree);
  });

  it.each(['much', 'file'])('holds it until a slow client has it all: %s', async (path) => {
    const client = await HttpClient.get(app, path, { reads: false });
    await until(() => client.hasResponse);
    expect(await isHeldOn()).toBe(true);
    client.read();
    await until(isFree);
    await until(() => client.end === 'complete');
  });

  if (adapter === 'fastify') {
    it.each(['later', 'file', 'sends'])('frees it for an injected request: %s', async (path) => {
      handlers.rows.flow();
      handlers.answer.resolve();
      const fastify = app.app as unknown as NestFastifyApplication;
      const { statusCode } = await fastify.inject(`/${path}`);
      expect(statusCode).toBe(200);
      await until(isFree);
    });
  }

  it('that leaves its result to Nest frees it before that is sent', async () => {
    const client = await HttpClient.get(app, 'passthrough', { reads: false });
    await until(() => client.hasResponse);
    expect(await isFree()).toBe(true);
    client.read();
    await until(() => client.end === 'complete');
  });
});
