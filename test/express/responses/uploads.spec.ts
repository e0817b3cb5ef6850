import type { Express, NextFunction, Request, Response } from 'express';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { lockRequest } from 'nest-holdfast/express';
import { nothingLeft } from '../../support/faults/left-behind.js';
import { standing } from '../../stores/support/app-instance.js';
import { OwnClient } from '../../stores/redis/locks.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { VERSIONS } from '../support/express-app.js';
import { Served } from '../support/served.js';
import type { Wire } from '../support/served.js';

const KEY = 'upload';
/** While the handler has left no more than this unread, Node goes on reading, and sees when the client goes. */
const BUFFERED = 1_000;
/** More than fits into all buffers, so that a client is still sending when the handler does not read. */
const UNREAD = 16 * 1024 * 1024;

describe.each(VERSIONS)('aborted uploads to $version', ({ express }) => {
  let redis: RedisServer;
  let client: OwnClient;
  let locks: LockService;
  let others: LockService;
  let app: Express;
  let served: Served;
  let log: string[];

  beforeAll(async () => {
    redis = await RedisServer.shared();
    client = new OwnClient(redis.url);
  });

  beforeEach(async () => {
    [locks, others] = [1, 2].map(() => new LockService(new RedisLockStore(client.redis))) as [
      LockService,
      LockService,
    ];
    log = [];
    app = express();
    app.set('env', 'test');
    app.use((_request, response, next) => {
      log.push('arrived');
      response.once('close', () => log.push('closed'));
      next();
    });
    served = await Served.start(app);
  });

  afterEach(async () => {
    await served[Symbol.asyncDispose]();
    await Promise.all([locks.close(), others.close()]);
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await redis.stop();
  });

  const lock = () => lockRequest(KEY, { locks, waitTimeout: 15_000 });
  const handle = (_request: Request, response: Response) => {
    log.push('handled');
    response.end();
  };
  const tell = (error: Error, _request: Request, _response: Response, next: NextFunction) => {
    log.push(error.message);
    next(error);
  };

  /** Begins a request whose body is still being sent. */
  async function upload(size: number): Promise<Wire> {
    const wire = await served.connect();
    const head = ['POST / HTTP/1.1', 'Host: test', 'Content-Type: application/json'];
    wire.write(`${[...head, `Content-Length: ${2 * size}`].join('\r\n')}\r\n\r\n`);
    wire.write(Buffer.alloc(size, ' '));
    await until(() => log.includes('arrived'));
    return wire;
  }

  const isFree = () => others.withLock(KEY, { waitTimeout: 0 }, () => true);

  it('before its body is parsed, with the wait under way: the wait ends', async () => {
    app.post('/', lock(), express.json(), handle);
    app.use(tell);
    const holder = await others.acquire(KEY);
    const wire = await upload(BUFFERED);
    await standing(redis, KEY, 1);
    wire.destroy();
    await standing(redis, KEY, 0);
    expect(log).toEqual(['arrived', 'closed']);
    await holder.release();
    await nothingLeft(redis);
  });

  it('before its body is parsed, with the lock held: the lock is released', async () => {
    let lockHeld!: () => void;
    const untilHeld = new Promise<void>((resolve) => (lockHeld = resolve));
    app.post('/', lock(), (_request, _response, next) => (lockHeld(), next()), express.json());
    app.use(tell, handle);
    const wire = await upload(BUFFERED);
    await untilHeld;
    await expect(isFree()).rejects.toThrow('it is held');
    wire.destroy();
    await nothingLeft(redis);
    await until(() => log.length === 3);
    expect(log.toSorted()).toEqual(['arrived', 'closed', 'request aborted']);
    expect(await isFree()).toBe(true);
  });

  it('in the parser before the lock: none is asked for', async () => {
    const asked = jest.spyOn(client.redis, 'evalsha');
    app.post('/', express.json(), lock(), handle);
    app.use(tell);
    const wire = await upload(BUFFERED);
    wire.destroy();
    await until(() => log.length === 3);
    expect(log.toSorted()).toEqual(['arrived', 'closed', 'request aborted']);
    expect(asked).not.toHaveBeenCalled();
    asked.mockRestore();
  });

  it('after its body has been parsed, with the wait under way: the wait ends', async () => {
    app.post('/', express.json(), lock(), handle);
    const holder = await others.acquire(KEY);
    const wire = await whole();
    await standing(redis, KEY, 1);
    wire.destroy();
    await standing(redis, KEY, 0);
    await holder.release();
    await nothingLeft(redis);
    expect(log).toEqual(['arrived', 'closed']);
  });

  it('after its body has been parsed, with the lock held: its signal aborts, and the handler ends it', async () => {
    app.post('/', express.json(), lock(), (_request, response) => {
      const signal = response.locals['lockSignal'] as AbortSignal;
      const stop = () => {
        log.push(signal.reason.name);
        response.end();
      };
      signal.addEventListener('abort', stop, { once: true });
      log.push('working');
    });
    const wire = await whole();
    await until(() => log.includes('working'));
    wire.destroy();
    await nothingLeft(redis);
    expect(log.toSorted()).toEqual(['AbortError', 'arrived', 'closed', 'working']);
  });

  it('larger than what Node reads ahead: seen as soon as the handler reads, and released', async () => {
    app.post('/', lock(), express.json({ limit: '1gb' }), handle);
    app.use(tell);
    const holder = await others.acquire(KEY);
    const wire = await upload(UNREAD);
    await standing(redis, KEY, 1);
    wire.destroy();
    await holder.release();
    await nothingLeft(redis);
    await until(() => log.length === 3);
    expect(log.toSorted()).toEqual(['arrived', 'closed', 'request aborted']);
  });

  it('larger than what Node reads ahead, and never read: released when the answer fails', async () => {
    app.post('/', lock(), handle);
    const holder = await others.acquire(KEY);
    const wire = await upload(UNREAD);
    await standing(redis, KEY, 1);
    wire.destroy();
    await holder.release();
    await until(() => log.includes('closed'));
    await nothingLeft(redis);
  });

  async function whole(): Promise<Wire> {
    const wire = await served.connect();
    const head = 'POST / HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n';
    wire.write(`${head}Content-Length: 2\r\n\r\n{}`);
    return wire;
  }
});
