import type { Lock, LockEviction, LockStore } from 'nest-holdfast/core';
import { LockService } from 'nest-holdfast/core';
import { until } from '../../support/until.js';

interface Stoppable {
  stop(): unknown;
}

interface EvictionPlan<Server, Store> {
  readonly start: () => Promise<Server>;
  /** Is called for the operator and for the holder. */
  readonly open: (server: Server) => Store;
  /** @default 'order:' */
  readonly keyPrefix?: string;
}

/** An operator and a holder on one server, each with a store of its own. Read it while a test runs. */
export interface EvictionSetup<Server, Store> {
  readonly server: Server;
  /** Of the operator. */
  readonly store: Store;
  readonly operator: LockService;
  readonly holder: LockService;
  /** Another one in each test. */
  readonly key: string;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Starts the server before the tests of the `describe` that calls this, and stops it afterwards. */
export function useEvictions<Server extends Stoppable, Store extends LockStore>({
  start,
  open,
  keyPrefix = 'order:',
}: EvictionPlan<Server, Store>): EvictionSetup<Server, Store> {
  const setup = { key: '' } as Writable<EvictionSetup<Server, Store>>;
  let keys = 0;

  beforeAll(async () => {
    setup.server = await start();
    setup.store = open(setup.server);
    setup.operator = new LockService(setup.store);
    setup.holder = new LockService(open(setup.server));
  });
  afterAll(async () => {
    await Promise.all([setup.holder.close(), setup.operator.close()]);
    await setup.server.stop();
  });
  beforeEach(() => {
    setup.key = `${keyPrefix}${++keys}`;
  });
  return setup;
}

/** The operator holds the key, and evicts itself. */
export function itTellsItsOwnHolder(setup: EvictionSetup<unknown, unknown>): void {
  it('tells a holder of its own store, which keeps the key until its work has ended', async () => {
    const { operator, holder, key } = setup;
    const lock = await operator.acquire(key);
    const eviction = await evictUntilReleased(operator, lock, holder);
    expect(eviction).toMatchObject({ outcome: 'released' });
  });
}

/** The lock is told of its eviction, keeps its key from the `rival`, and is released. */
export async function evictUntilReleased(
  operator: LockService,
  lock: Lock,
  rival: LockService,
): Promise<LockEviction> {
  const { key, fencingToken } = lock;
  const evicted = operator.evict(key, { fencingToken, grace: 60_000 });
  await until(() => lock.signal.aborted);
  expect(lock.signal.reason).toMatchObject({ reason: 'revoked' });
  expect(await rival.tryAcquire(key)).toBeUndefined();
  await lock.release();
  return evicted;
}

/** For stores where the holder watches its node, into which the operator writes. */
export function itAsksHoldersElsewhere(setup: EvictionSetup<unknown, unknown>): void {
  it.each([
    ['of one key', (key: string) => [key]],
    ['of several keys', (key: string) => [`${key}:a`, key, `${key}:b`]],
  ])('asks a holder %s in another process, which keeps them meanwhile', async (_, keysOf) => {
    const { holder, operator, key } = setup;
    const lock = await holder.acquire(keysOf(key)); // its nodes are not watched yet
    const { holder: name } = (await operator.inspect(key))!;
    const { fencingToken } = lock;
    const evicted = operator.evict(key, { fencingToken, grace: 60_000 });
    await until(() => lock.signal.aborted);
    expect(lock.signal.reason).toMatchObject({ reason: 'revoked' });
    expect((await operator.inspect(key))!.holder).toBe(name);
    for (const each of lock.keys) expect(await operator.tryAcquire(each)).toBeUndefined();
    await lock.release();
    expect(await evicted).toMatchObject({ outcome: 'released', holder: name });
    for (const each of lock.keys) expect(await operator.inspect(each)).toBeUndefined();
  });

  it('asks a holder that has waited, and no other', async () => {
    const { holder, operator, key } = setup;
    const first = await operator.acquire(key);
    const waiting = holder.acquire(key, { waitTimeout: 60_000 });
    await until(async () => (await operator.inspect(key))?.waiterCount === 1);
    await first.release();
    const lock = await waiting;
    const behind = operator.acquire(key, { waitTimeout: 60_000 });
    const other = await holder.acquire(`${key}:other`);
    const { fencingToken } = lock;
    const evicted = operator.evict(key, { fencingToken, grace: 60_000 });
    await until(() => lock.signal.aborted);
    await lock.release();
    expect((await evicted).outcome).toBe('released');
    const next = await behind;
    expect([next.isHeld, other.isHeld]).toEqual([true, true]);
    await Promise.all([next.release(), other.release()]);
  });
}
