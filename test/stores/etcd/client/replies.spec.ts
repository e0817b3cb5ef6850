import { LockService } from 'nest-holdfast';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { rejectionOf } from '../../../core/support/outcome.js';
import { EtcdServer } from '../../../support/servers/etcd-server.js';
import { until } from '../../../support/until.js';
import type { TxnResponse } from '../../../../lib/stores/etcd/client/etcd-client.js';
import { never, requestFor } from './requests.js';

const KEY = 'order:42';

/** The next transaction takes effect, and something else is said of it, so many times. */
let lie:
  | { readonly answerOf: (real: TxnResponse) => unknown; times: number; isCreation?: boolean }
  | undefined;

/** Holders do not watch here: the wrong replies are for the requests of the tests. */
jest.mock('../../../../lib/stores/kit/watch-delay.js', () => ({ WATCH_AFTER: Infinity }));

jest.mock('../../../../lib/stores/etcd/client/open-client.js', () =>
  jest.requireActual<typeof import('./doctored.js')>('./doctored.js').openingDoctored(({ kv }) => {
    const txn = kv.txn.bind(kv);
    kv.txn = async (...asked) => {
      const real = await txn(...asked);
      const [{ compare, success }] = asked;
      const creates = compare.length > 0 && success.some((each) => each.request_put !== undefined);
      if (!lie || (lie.isCreation && !creates) || lie.times-- <= 0) return real;
      return lie.answerOf(real) as TxnResponse;
    };
  }),
);

const WRONG: Record<string, (real: TxnResponse) => unknown> = {
  undefined: () => undefined,
  null: () => null,
  'a text': () => 'QUEUED',
  'a list': () => [],
  nothing: () => ({}),
  'no responses': (real) => ({ ...real, responses: undefined }),
  'one response too many': (real) => ({ ...real, responses: [...real.responses, {}] }),
  'a success that is none': (real) => ({ ...real, succeeded: 'true' }),
  'no revision': (real) => ({ ...real, header: {} }),
};
/** Asked more often than one creation is. */
const ALWAYS = 3;

describe('An answer that EtcdLockStore did not ask for', () => {
  let server: EtcdServer;
  let store: EtcdLockStore;
  let locks: LockService;

  beforeAll(async () => {
    server = await EtcdServer.shared();
    store = new EtcdLockStore({ hosts: server.url });
    locks = new LockService(store, { ttl: 30_000 });
    await locks.withLock('warm-up', () => {});
  });

  afterEach(() => (lie = undefined));

  afterAll(async () => {
    await locks.close();
    await server.stop();
  });

  const answer = (answerOf: (real: TxnResponse) => unknown, times = 1, isCreation = false) => {
    lie = { answerOf, times, isCreation };
  };
  const isFree = () => until(async () => (await store.inspect(KEY)) === undefined);
  const UNKNOWN = { code: 'LOCK_STORE_FAILED', message: expect.stringContaining('not understood') };

  it.each(Object.entries(WRONG))('is asked for again, by another name: %s', async (_, answerOf) => {
    answer(answerOf);
    const lock = await locks.acquire(KEY);
    expect(await lock.release()).toBe(true);
    await isFree();
  });

  it.each(Object.entries(WRONG))('is no lock, and leaves none: %s', async (_, answerOf) => {
    answer(answerOf, ALWAYS, true);
    const failed = await rejectionOf(locks.tryAcquire(KEY, { storeTimeout: 20_000 }));
    expect(failed).toMatchObject(UNKNOWN);
    lie = undefined;
    await isFree();
  });

  it.each(Object.entries(WRONG))('is no place of a reader: %s', async (_, answerOf) => {
    const held = (await store.tryAcquire(requestFor(KEY)))!;
    answer(answerOf);
    expect(await locks.tryAcquire(KEY, { mode: 'read' })).toBeUndefined();
    expect(await held.release()).toBe(true);
    await isFree();
  });

  it.each(Object.entries(WRONG))('is no end of a wait: %s', async (_, answerOf) => {
    const held = (await store.tryAcquire(requestFor(KEY)))!;
    answer(answerOf);
    const waiting = store.acquire(requestFor(KEY), never());
    await new Promise(setImmediate);
    expect(await held.extend(30_000)).toBe(true);
    await held.release();
    expect(await (await waiting).release()).toBe(true);
    await isFree();
  });

  it.each(Object.entries(WRONG))('ends no release before it is done: %s', async (_, answerOf) => {
    const lock = await locks.acquire(KEY);
    answer(answerOf);
    expect(await lock.release()).toBe(true);
    await isFree();
  });

  it.each(Object.entries(WRONG))('is no inspection: %s', async (_, answerOf) => {
    const lock = await locks.acquire(KEY);
    answer(answerOf, ALWAYS);
    expect(await rejectionOf(locks.inspect(KEY))).toMatchObject(UNKNOWN);
    lie = undefined;
    expect(await lock.release()).toBe(true);
  });
});
