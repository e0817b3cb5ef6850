import { RedisLocks } from '../locks.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import { lineLength } from '../../../support/redis-line.js';

const REASON = new Error('the client went away');

describe('A wait that is cancelled leaves nothing behind', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let own: RedisLocks;
  let cancel: AbortController;

  beforeEach(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.start(server.port);
    own = new RedisLocks(proxy.url, { retryDelay: 20, retryJitter: 0 });
    await own.locks.withLock('warm-up', async () => {});
    cancel = new AbortController();
  });

  afterEach(async () => {
    proxy.pass();
    await own[Symbol.asyncDispose]();
    await proxy.stop();
    await server.stop();
  });

  const start = () => own.locks.acquire('order:42', { signal: cancel.signal });
  const takeAway = () => server.command('SET', 'lock:order:42', 'theirs', 'PX', 60_000);
  const giveBack = () => server.command('DEL', 'lock:order:42');
  const standsInLine = async () =>
    (await lineLength((...words) => server.command(...words), 'lock:order:42')) === 1;
  const isTaken = async () => (await server.command('EXISTS', 'lock:order:42')) === 1;

  async function cancelled(waiting: Promise<unknown>): Promise<void> {
    const rejected = expect(waiting).rejects.toBe(REASON);
    cancel.abort(REASON);
    await rejected;
  }

  /** Resolves when the client has sent something. */
  async function sending(): Promise<void> {
    const { bytes } = proxy.requests;
    await until(() => proxy.requests.bytes > bytes);
  }

  /** Resolves when a waiting client has been granted the key and does not know it yet. */
  async function laterGrant(): Promise<void> {
    await until(standsInLine);
    proxy.requests.hold();
    const sent = sending(); // its next sign of life
    await giveBack();
    await sent;
    proxy.replies.hold();
    proxy.requests.pass();
    await until(isTaken);
  }

  it('before the first attempt, which is then never sent', async () => {
    const { bytes } = proxy.requests;
    cancel.abort(REASON);
    await expect(start()).rejects.toBe(REASON);
    await expect(own.locks.tryAcquire('order:42', { signal: cancel.signal })).rejects.toBe(REASON);
    expect(proxy.requests.bytes).toBe(bytes);
  });

  it('while its command is on the way to the server', async () => {
    proxy.requests.hold();
    const sent = sending();
    const waiting = start();
    await sent;
    await cancelled(waiting);
    proxy.pass();
    await sending();
    await nothingLeft(server);
  });

  it('while the grant is on the way to the client', async () => {
    proxy.replies.hold();
    const waiting = start();
    await until(isTaken);
    await cancelled(waiting);
    expect(await isTaken()).toBe(true);
    proxy.pass();
    await nothingLeft(server);
  });

  it('between the hash of a script and its full text', async () => {
    await server.command('SCRIPT', 'FLUSH');
    const { bytes } = proxy.replies;
    proxy.replies.hold();
    const waiting = start();
    await until(() => proxy.replies.bytes > bytes);
    await cancelled(waiting);
    proxy.pass();
    await sending();
    await nothingLeft(server);
  });

  it('between two attempts', async () => {
    await takeAway();
    const replies = proxy.replies.bytes;
    const waiting = start();
    await until(() => proxy.replies.bytes > replies);
    await cancelled(waiting);
    await giveBack();
    await nothingLeft(server);
  });

  it('while the grant of a later attempt is on the way', async () => {
    await takeAway();
    const waiting = start();
    await laterGrant();
    await cancelled(waiting);
    proxy.pass();
    await nothingLeft(server);
  });

  it('while the reply is lost and the connection with it', async () => {
    proxy.replies.drop();
    const waiting = start();
    await until(isTaken);
    await cancelled(waiting);
    proxy.pass();
    proxy.cutAll();
    await nothingLeft(server);
  });

  it('by its waitTimeout, while the grant is on the way', async () => {
    proxy.replies.hold();
    const waiting = own.locks.acquire('order:42', { waitTimeout: 150 });
    await expect(waiting).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    await until(isTaken);
    proxy.pass();
    await nothingLeft(server);
  });

  it('by the end of the service, while the grant is on the way', async () => {
    await takeAway();
    const waiting = expect(start()).rejects.toThrow('the LockService is closed');
    await laterGrant();
    const closed = own.locks.close();
    await waiting;
    await closed;
    proxy.pass();
    await nothingLeft(server);
  });

  it('at any moment of many', async () => {
    proxy.replies.delay(2);
    const ends = Array.from({ length: 150 }, async (_, index) => {
      const { signal, abort } = cancelAfter(index / 10);
      try {
        const lock = await own.locks.acquire(`order:${index % 10}`, { signal, retryJitter: 10 });
        return await lock.release();
      } catch (error) {
        expect(error).toBe(REASON);
        return 'cancelled';
      } finally {
        abort();
      }
    });
    const all = await Promise.all(ends);
    expect(all).toContain('cancelled');
    expect(all).not.toContain(false);
    await nothingLeft(server);
  });
});

function cancelAfter(ms: number): { signal: AbortSignal; abort: () => void } {
  const cancel = new AbortController();
  const timer = setTimeout(() => cancel.abort(REASON), ms);
  return { signal: cancel.signal, abort: () => clearTimeout(timer) };
}
