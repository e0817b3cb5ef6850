import type { AcquireRequest, LockServiceOptions, NodeCount } from 'nest-holdfast/core';
import { FakeLease } from '../support/fake-store';
import { deferred, never, rejectionOf, watch } from '../support/outcome';
import { onFakeStore } from '../support/setup';

/** A store that answers each probe, and counts them. */
function probed(options?: LockServiceOptions) {
  const around = onFakeStore(options);
  const asked: string[] = [];
  const inspect = (key: string) => {
    asked.push(key);
    return Promise.resolve(undefined);
  };
  Object.assign(around.store, { inspect });
  return { ...around, asked };
}

const withCode = (code: string) => Object.assign(new Error('db-1.internal is away'), { code });
const withName = (name: string) => Object.assign(new Error('db-1.internal is away'), { name });

describe('The probe of health', () => {
  it('by reading asks for one key of its own, and takes nothing', async () => {
    const { locks, store, asked } = probed();
    await locks.health({ probe: 'read' });
    await locks.health();
    expect(asked).toEqual([expect.stringMatching(/^holdfast:health:/), asked[0]]);
    expect(store.requests).toEqual([]);
  });

  it('by a lock takes that key for ten seconds, exclusively, and frees it', async () => {
    const { locks, store, lease, asked } = probed();
    await locks.health({ probe: 'lock' });
    await locks.health({ probe: 'lock' });
    expect(asked).toEqual([]);
    const [first, second] = store.requests as [AcquireRequest, AcquireRequest];
    expect(first).toEqual({ key: first.key, keys: [first.key], token: first.token, ttl: 10_000 });
    expect(second.key).toBe(first.key);
    expect(second.token).not.toBe(first.token);
    expect(lease.releases).toBe(2);
  });

  it('by a lock is up where another probe has it', async () => {
    const { locks, store, lease } = probed();
    store.onAcquire = () => Promise.resolve(undefined);
    expect(await locks.health({ probe: 'lock' })).toMatchObject({ status: 'up' });
    expect(lease.releases).toBe(0);
  });

  it('by a lock is down where it cannot be freed', async () => {
    const { locks, lease } = probed();
    lease.onRelease = () => Promise.reject(withCode('READONLY'));
    const health = await locks.health({ probe: 'lock' });
    expect(health).toMatchObject({ status: 'down', reason: 'READONLY', probe: 'lock' });
  });

  it('by a lock is down for an answer that is no lease', async () => {
    const { locks, store } = probed();
    store.onAcquire = () => Promise.resolve({} as never);
    expect(await locks.health({ probe: 'lock' })).toMatchObject({ status: 'down' });
  });

  it('does not mind that a lock which came late cannot be freed', async () => {
    const { locks, store, clock } = probed();
    const answer = deferred<FakeLease>();
    store.onAcquire = () => answer.promise;
    const health = watch(locks.health({ probe: 'lock', timeout: 50 }));
    await clock.advance(50);
    expect(health.value).toMatchObject({ status: 'down', reason: 'timeout', duration: 50 });
    const late = new FakeLease();
    late.onRelease = () => Promise.reject(new Error('down'));
    answer.resolve(late);
    await clock.advance(0);
    expect(late.releases).toBe(1);
  });
});

it('The probe by a lock frees nothing for a refusal that came late', async () => {
  const { locks, store, clock, lease } = probed();
  const answer = deferred<undefined>();
  store.onAcquire = () => answer.promise;
  const health = watch(locks.health({ probe: 'lock', timeout: 50 }));
  await clock.advance(50);
  answer.resolve(undefined);
  await clock.advance(0);
  expect(health.value).toMatchObject({ status: 'down', reason: 'timeout' });
  expect(lease.releases).toBe(0);
});

describe('The time that health takes', () => {
  it('is a second at most, for all answers together', async () => {
    const { locks, store, clock } = probed();
    const counted = deferred<NodeCount>();
    Object.assign(store, { countNodes: () => counted.promise });
    store.onAcquire = never;
    const health = watch(locks.health({ probe: 'lock' }));
    await clock.advance(600);
    counted.resolve({ up: 3, needed: 2, total: 3 });
    await clock.advance(399);
    expect(health.status).toBe('pending');
    await clock.advance(1);
    expect(health.value).toMatchObject({ status: 'down', reason: 'timeout', duration: 1_000 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('is none once the service has ended', async () => {
    const { locks, clock, asked } = probed();
    const lock = await locks.acquire('a');
    const drained = locks.drain();
    await clock.advance(5);
    expect(await locks.health()).toMatchObject({ status: 'down', duration: 0, reason: 'draining' });
    await lock.release();
    await drained;
    await locks.close();
    expect(await locks.health()).toMatchObject({ status: 'down', duration: 0, reason: 'closed' });
    expect(asked).toEqual([]);
  });

  it.each([
    [{ timeout: 0 }, 'timeout must be a whole number of ms from 1 to 2147483647, got 0'],
    [{ probe: 'write' }, 'probe must be '],
    [{ timout: 5 }, 'unknown option "timout"'],
  ])('and the kind of probe are checked: %p', async (options, message) => {
    const error = await rejectionOf(probed().locks.health(options as never));
    expect(error).toMatchObject({ code: 'LOCK_OPTION_INVALID' });
    expect(error.message).toContain(message);
  });
});

describe('Why health is down', () => {
  async function reasonFor(error: unknown, others: object = {}): Promise<string | undefined> {
    const { locks, store } = probed();
    Object.assign(store, { inspect: () => Promise.reject(error as Error), ...others });
    return (await locks.health()).reason;
  }

  it.each([
    ['a code of up to 40 characters', withCode('x'.repeat(40)), 'x'.repeat(40)],
    ['no longer one', withCode('x'.repeat(41)), 'Error'],
    ['no code with other characters', withCode('db-1'), 'Error'],
    ['no empty one', withCode(''), 'Error'],
    ['a word of a server', new Error('OOM command not allowed'), 'OOM'],
    ['no word of two letters', new Error('NO db-1'), 'Error'],
    ['no word of 21 letters', new Error(`${'X'.repeat(21)} db-1`), 'Error'],
    ['no word that is all there is', new Error('READONLY'), 'Error'],
    ['no word further on', new Error('db READONLY You'), 'Error'],
    ['a name of up to 60 characters', withName('N'.repeat(60)), 'N'.repeat(60)],
    ['no longer one', withName('N'.repeat(61)), 'unknown'],
    ['no name with other characters', withName('db-1.internal'), 'unknown'],
    ['nothing of null', null, 'unknown'],
  ])('names %s', async (_, error, reason) => {
    expect(await reasonFor(error)).toBe(reason);
  });

  it('names why there is no connection rather than that a call was given up', async () => {
    const connectionFailure = () => withCode('ECONNREFUSED');
    expect(await reasonFor(new Error('gave up'), { connectionFailure })).toBe('ECONNREFUSED');
  });
});

describe('The health of a store with nodes', () => {
  it('is that of its nodes, which are asked once, and not inspected', async () => {
    const { locks, store, asked } = probed();
    let counted = 0;
    const nodes = { up: 4, needed: 3, total: 5 };
    Object.assign(store, { countNodes: () => (counted++, Promise.resolve(nodes)) });
    expect(await locks.health()).toMatchObject({ status: 'degraded', probe: 'read', nodes });
    expect([counted, asked]).toEqual([1, []]);
    expect(await locks.health({ probe: 'lock' })).toMatchObject({ status: 'degraded', nodes });
    expect(store.requests).toHaveLength(1);
  });

  it('has no nodes where the store has none', async () => {
    expect(await probed().locks.health()).not.toHaveProperty('nodes');
  });
});
