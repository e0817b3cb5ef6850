import { LockService } from 'nest-holdfast/core';
import { rejectionOf } from '../core/support/outcome.js';
import { PAGE_STORES } from '../dashboard/support/page-stores.js';
import type { PageStore } from '../dashboard/support/page-stores.js';
import { until } from '../support/until.js';
import type { Opened } from './support/backends.js';

describe.each(PAGE_STORES)('On %s, a service that is drained', (_, start) => {
  let started: PageStore;
  let opened: Opened[];
  let locks: LockService;
  let others: LockService;

  beforeAll(async () => {
    started = await start();
  });
  afterAll(() => started.stop?.());

  beforeEach(() => {
    opened = [started.open(), started.open()];
    const [ours, theirs] = opened as [Opened, Opened];
    const options = { storeTimeout: 10_000, waitTimeout: 60_000 };
    locks = new LockService(ours.store, options);
    others = new LockService(theirs.store, options);
  });
  afterEach(async () => {
    await Promise.all([locks.close(), others.close()]);
    for (const { close } of opened) await close?.();
  });

  it('lets its locks end, and leaves its places in line to others', async () => {
    const elsewhere = await others.acquire('elsewhere');
    const lock = await locks.acquire('here');
    const waiting = [locks.acquire('elsewhere'), locks.acquire('here')].map(rejectionOf);
    await until(() => locks.waiting().length === 2);
    const drained = locks.drain({ within: Infinity });
    for (const error of await Promise.all(waiting)) {
      expect(error).toMatchObject({ code: 'LOCK_DRAINING' });
    }
    const next = others.acquire('elsewhere');
    await elsewhere.release();
    await (await next).release();
    expect(lock.isHeld).toBe(true);
    const theirs = others.acquire('here');
    expect(await lock.release()).toBe(true);
    expect(await drained).toEqual([]);
    await (await theirs).release();
  });

  it('tells what is left of it, and gives it back when it is closed', async () => {
    const { fencingToken } = await locks.acquire('stuck', { name: 'import' });
    const left = await locks.drain({ within: 50 });
    expect(left).toMatchObject([{ key: 'stuck', name: 'import', state: 'held', fencingToken }]);
    expect(await others.tryAcquire('stuck')).toBeUndefined();
    await locks.close();
    const next = await others.acquire('stuck');
    expect(next.fencingToken > fencingToken).toBe(true);
  });
});
