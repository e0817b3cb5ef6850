import zookeeper from 'node-zookeeper-client';
import { LockService } from 'nest-holdfast';
import type { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { rejectionOf } from '../../../core/support/outcome.js';
import { until } from '../../../support/until.js';
import { ZooKeeperStores, aRequest, noEnd } from '../stores.js';

const KEY = 'order:42';
const WRONG: readonly unknown[] = [undefined, null, '', 'x', 7, true, {}, [], [null], [{}, {}, {}]];

type Method = 'getChildren' | 'getData' | 'remove' | 'commit' | 'create';
type Callback = (error: unknown, ...values: unknown[]) => void;

/** The next call of `method` is made, and something else is said of it. */
let lie: { readonly method: Method; readonly answer: unknown } | undefined;

/** Replaces a method whose last argument is a callback. */
function doctor(target: object, method: Method): void {
  const methods = target as Record<Method, (...args: unknown[]) => unknown>;
  const real = methods[method].bind(target);
  methods[method] = (...args) => {
    const done = args.pop() as Callback;
    return real(...args, (error: unknown, ...values: unknown[]) => {
      if (error || lie?.method !== method) return done(error, ...values);
      const { answer } = lie;
      lie = undefined;
      if (method === 'getData') done(null, answer, answer);
      else done(null, answer);
    });
  };
}

describe('An answer that ZooKeeperLockStore did not ask for', () => {
  let stores: ZooKeeperStores;
  let store: ZooKeeperLockStore;
  let locks: LockService;

  beforeAll(async () => {
    const { createClient } = zookeeper;
    jest.spyOn(zookeeper, 'createClient').mockImplementation((...args) => {
      const client = createClient(...args);
      for (const method of ['getChildren', 'getData', 'remove', 'create'] as const)
        doctor(client, method);
      const transaction = client.transaction.bind(client);
      client.transaction = () => {
        const all = transaction();
        doctor(all, 'commit');
        return all;
      };
      return client;
    });
    stores = await ZooKeeperStores.shared();
    store = stores.open();
    locks = new LockService(store, { ttl: 30_000 });
    await locks.withLock(KEY, () => {});
  });

  afterAll(async () => {
    await locks.close();
    await stores[Symbol.asyncDispose]();
    jest.restoreAllMocks();
  });

  const answerNext = (method: Method, answer: unknown): void => void (lie = { method, answer });
  const nothingLeft = () => stores.standing(KEY, 0);
  const named = WRONG.map((answer) => [JSON.stringify(answer) ?? 'undefined', answer] as const);
  const UNKNOWN = { code: 'LOCK_STORE_FAILED', message: expect.stringContaining('not understood') };

  it.each(named)('is no creation: %s', async (_, answer) => {
    answerNext('commit', answer);
    expect(await rejectionOf(locks.tryAcquire(KEY))).toMatchObject(UNKNOWN);
    await nothingLeft();
  });

  it.each(named.filter(([, answer]) => !isEmpty(answer)))(
    'is no place in line: %s',
    async (_, answer) => {
      const held = (await store.tryAcquire(aRequest(KEY)))!;
      answerNext('getChildren', answer);
      expect(await rejectionOf(locks.tryAcquire(KEY, { mode: 'read' }))).toMatchObject(UNKNOWN);
      await stores.standing(KEY, 1);
      await held.release();
      await nothingLeft();
    },
  );

  it.each(named)('is no node: %s', async (_, answer) => {
    answerNext('getData', answer);
    expect(await rejectionOf(locks.tryAcquire(KEY))).toMatchObject(UNKNOWN);
    await nothingLeft();
  });

  it.each(named)('confirms no lock: %s', async (_, answer) => {
    const lock = await locks.acquire(KEY);
    answerNext('getData', answer);
    expect(await rejectionOf(lock.extend(30_000))).toMatchObject(UNKNOWN);
    expect(lock.isHeld).toBe(true);
    await lock.extend(30_000);
    expect(await lock.release()).toBe(true);
    await nothingLeft();
  });

  it.each(named)('makes a reader of a writer only after another one: %s', async (_, answer) => {
    const lock = await locks.acquire(KEY);
    answerNext('commit', answer);
    await lock.downgrade();
    expect((await locks.inspect(KEY))?.permits).toBe(Infinity);
    expect(await lock.release()).toBe(true);
    await nothingLeft();
  });

  it.each(named)('ends no release of several before it is done: %s', async (_, answer) => {
    const lock = await locks.acquire([KEY, 'order:43']);
    answerNext('commit', answer);
    expect(await lock.release()).toBe(true);
    await nothingLeft();
  });

  it.each(named.filter(([, answer]) => !isEmpty(answer)))(
    'is no end of a wait: %s',
    async (_, answer) => {
      const held = (await store.tryAcquire(aRequest(KEY)))!;
      answerNext('getChildren', answer);
      expect(await rejectionOf(store.acquire(aRequest(KEY), noEnd()))).toMatchObject({
        name: 'UnknownAnswerError',
      });
      await stores.standing(KEY, 1);
      await held.release();
      await nothingLeft();
    },
  );

  it.each(named.filter(([, answer]) => !isEmpty(answer)))(
    'is no inspection: %s',
    async (_, answer) => {
      answerNext('getChildren', answer);
      expect(await rejectionOf(locks.inspect(KEY))).toMatchObject(UNKNOWN);
      await until(async () => (await locks.inspect(KEY)) === undefined);
    },
  );
});

/** A list of names that says something. */
function isEmpty(answer: unknown): boolean {
  return Array.isArray(answer) && answer.length === 0;
}
