import { LeaderElection, LockService } from 'nest-holdfast';
import { rejectionOf } from '../core/support/outcome.js';
import { TcpProxy } from '../support/processes/tcp-proxy.js';
import { until } from '../support/until.js';
import { BACKENDS } from './support/backends.js';
import type { Backend, Opened } from './support/backends.js';

describe.each(BACKENDS)('Who waits on a hung %s', (_, start) => {
  let backend: Backend;
  let proxy: TcpProxy;
  let holder: Opened;
  let waiter: Opened;
  let holding: LockService;
  let waiting: LockService;

  let count = 0;
  let key: string;

  beforeAll(async () => {
    backend = await start();
  });

  afterAll(() => backend.stop?.());

  beforeEach(async () => {
    const { port, open } = backend;
    key = `order:${(count += 1)}`;
    proxy = await TcpProxy.start(port);
    holder = open(port);
    waiter = open(proxy.port);
    holding = new LockService(holder.store, { ttl: 60_000 });
    waiting = new LockService(waiter.store, { ttl: 60_000 });
    await holding.acquire(key);
    expect(await waiting.tryAcquire(key)).toBeUndefined();
  });

  afterEach(async () => {
    proxy.cutAll();
    proxy.pass();
    await waiting.close();
    await holding.close();
    await proxy.stop();
    await Promise.all([holder.close?.(), waiter.close?.()]);
  });

  /** Resolves once a caller waits in the queue, or polls. */
  async function waits(): Promise<void> {
    const asked = waiter.store.acquire
      ? jest.spyOn(waiter.store, 'acquire')
      : jest.spyOn(waiter.store, 'tryAcquire');
    await until(() => asked.mock.calls.length > 0);
  }

  it('is told so at the end of the wait, and not that the key is held', async () => {
    const end = rejectionOf(waiting.acquire(key, { waitTimeout: 3_500, retryDelay: 20 }));
    await waits();
    proxy.replies.drop();
    expect(await end).toMatchObject({ code: 'LOCK_STORE_FAILED' });
  });

  it('is told so behind a caller of its own process', async () => {
    const front = rejectionOf(waiting.acquire(key, { waitTimeout: 60_000, retryDelay: 20 }));
    await waits();
    const behind = rejectionOf(waiting.acquire(key, { waitTimeout: 2_500, storeTimeout: 30_000 }));
    proxy.replies.drop();
    expect(await behind).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    waiting.endWaits();
    await front;
  });

  it('is told that the key is held, when its own process has it', async () => {
    await waiting.acquire(`own:${key}`);
    const behind = rejectionOf(waiting.acquire(`own:${key}`, { waitTimeout: 2_500 }));
    proxy.replies.drop();
    expect(await behind).toMatchObject({ code: 'LOCK_TIMEOUT' });
  });

  it('is told that the key is held, when it goes on in time', async () => {
    const end = rejectionOf(waiting.acquire(key, { waitTimeout: 4_000, retryDelay: 20 }));
    await waits();
    proxy.replies.hold();
    await new Promise((resolve) => setTimeout(resolve, 400)); // a pause that every lease survives: a tenth of what the caller has
    proxy.pass();
    expect(await end).toMatchObject({ code: 'LOCK_TIMEOUT' });
  });

  it('hears of it as a candidate for leadership', async () => {
    await holding.acquire(`leader:${key}`);
    const election = new LeaderElection(waiting, key, { storeTimeout: 500 });
    const failed = jest.fn();
    election.events.on('failed', failed);
    election.start();
    await waits();
    proxy.replies.drop();
    await until(() => failed.mock.calls.length > 0, { what: 'the event "failed"' });
    proxy.cutAll();
    proxy.pass();
    await election.stop();
  });
});
