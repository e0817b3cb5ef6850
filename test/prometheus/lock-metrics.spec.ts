import { Counter, Registry, register as defaultRegister } from 'prom-client';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import { lockMetrics } from 'nest-holdfast/prometheus';
import { inMemory } from '../core/support/setup';
import { errorOf } from '../core/support/outcome';
import { knownHistory } from '../metrics/support/known-history';
import { scrape } from './scrape';

const ORDER = 'holdfast_lock_mode="write",holdfast_lock_name="order:<id>"';
const NO_NAME = 'holdfast_lock_mode="write"';
const STORE = 'holdfast_store_name="fake"';
const ACQUIRE = 'holdfast_lock_acquire_duration_seconds';
const HOLD = 'holdfast_lock_hold_duration_seconds';

/** Calls and seconds, by the labels between. */
const ACQUIRED: Readonly<Record<string, [count: number, sum: number]>> = {
  [`holdfast_acquire_outcome="granted",${ORDER},${STORE}`]: [4, 0],
  [`holdfast_acquire_outcome="granted",${NO_NAME},${STORE}`]: [1, 0.1],
  [`holdfast_acquire_outcome="busy",${ORDER},${STORE}`]: [1, 0],
  [`error_type="LOCK_TIMEOUT",holdfast_acquire_outcome="busy",${ORDER},${STORE}`]: [2, 1],
  [`error_type="LOCK_STORE_FAILED",holdfast_acquire_outcome="failed",${ORDER},${STORE}`]: [1, 0],
  [`error_type="AbortError",holdfast_acquire_outcome="aborted",${ORDER},${STORE}`]: [1, 0.25],
};
const HELD: Readonly<Record<string, [count: number, sum: number]>> = {
  [`holdfast_hold_end="released",${ORDER},${STORE}`]: [2, 2.5],
  [`holdfast_hold_end="released",${NO_NAME},${STORE}`]: [1, 0.3],
  [`error_type="gone",holdfast_hold_end="lost",${ORDER},${STORE}`]: [1, 1.3],
};

function histogram(name: string, values: typeof ACQUIRED): [string, unknown][] {
  return Object.entries(values).flatMap(([labels, [count, sum]]): [string, unknown][] => [
    [`${name}_count{${labels}}`, count],
    [`${name}_sum{${labels}}`, expect.closeTo(sum, 6)],
  ]);
}

/** Of one metric, labels to value. */
async function series(register: Registry, metric: string): Promise<Record<string, number>> {
  const all = Object.entries(await scrape(register));
  const own = all.filter(([name]) => name.startsWith(`${metric}{`));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(metric.length), value]));
}

describe('lockMetrics', () => {
  it('measures every grant, refusal, timeout, failure and loss of a history', async () => {
    const register = new Registry();
    const { play } = knownHistory((locks) => lockMetrics(locks, { register }));
    await play();
    const all = Object.entries(await scrape(register));
    expect(Object.fromEntries(all.filter(([name]) => !name.includes('_bucket')))).toEqual(
      Object.fromEntries([
        ...histogram(ACQUIRE, ACQUIRED),
        ...histogram(HOLD, HELD),
        [`holdfast_lock_count{${ORDER},holdfast_lock_state="held",${STORE}}`, 1],
        [`holdfast_lock_extension_failures_total{error_type="LOCK_STORE_FAILED",${ORDER},${STORE}}`, 1], // prettier-ignore
        [`holdfast_lock_release_failures_total{error_type="Error",${ORDER},${STORE}}`, 1],
      ]),
    );
  });

  it('has buckets of seconds, from 1 ms to a minute', async () => {
    const register = new Registry();
    const { play } = knownHistory((locks) => lockMetrics(locks, { register }));
    await play();
    const bucket = (le: string) =>
      `{holdfast_acquire_outcome="granted",${NO_NAME},${STORE},le="${le}"}`;
    const buckets = await series(register, `${ACQUIRE}_bucket`);
    expect(buckets).toMatchObject({
      [bucket('0.001')]: 0,
      [bucket('0.05')]: 0,
      [bucket('0.1')]: 1,
      [bucket('60')]: 1,
      [bucket('+Inf')]: 1,
    });
  });

  it('shows no key', async () => {
    const register = new Registry();
    const { play } = knownHistory((locks) => lockMetrics(locks, { register }));
    await play();
    expect(await register.metrics()).not.toMatch(/secret|order:\d/);
  });

  it('adds up the services of one registry, whose stores are told apart', async () => {
    const register = new Registry();
    const { locks, others } = inMemory();
    const { play } = knownHistory((fake) => lockMetrics(fake, { register }));
    lockMetrics(locks, { register });
    lockMetrics(others, { register });
    await play();
    await locks.acquire('a');
    await others.acquire('b');
    expect(await series(register, 'holdfast_lock_count')).toEqual({
      [`{${NO_NAME},holdfast_lock_state="held",holdfast_store_name="memory"}`]: 2,
      [`{${ORDER},holdfast_lock_state="held",${STORE}}`]: 1,
    });
    expect(await series(register, `${ACQUIRE}_count`)).toMatchObject({
      [`{holdfast_acquire_outcome="granted",${NO_NAME},holdfast_store_name="memory"}`]: 2,
    });
  });

  it('ends when its result is called: what was counted stays, what is no more is gone', async () => {
    const register = new Registry();
    const { locks, others } = inMemory();
    const end = lockMetrics(locks, { register });
    lockMetrics(others, { register });
    await locks.acquire('a');
    await others.acquire('b');
    end();
    end();
    await locks.acquire('c');
    const granted = `{holdfast_acquire_outcome="granted",${NO_NAME},holdfast_store_name="memory"}`;
    const held = `{${NO_NAME},holdfast_lock_state="held",holdfast_store_name="memory"}`;
    expect(await series(register, `${ACQUIRE}_count`)).toEqual({ [granted]: 2 });
    expect(await series(register, 'holdfast_lock_count')).toEqual({ [held]: 1 });
    expect(locks.events.eventNames()).toEqual(inMemory().locks.events.eventNames());
  });

  it('begins again, after a hot reload say', async () => {
    const register = new Registry();
    const { locks } = inMemory();
    for (let round = 0; round < 3; round++) lockMetrics(locks, { register })();
    lockMetrics(locks, { register });
    await locks.withLock('a', () => {});
    expect(Object.values(await series(register, `${HOLD}_count`))).toEqual([1]);
  });

  it('uses the registry of prom-client, unless it is given one', async () => {
    const { locks } = inMemory();
    const end = lockMetrics(locks);
    expect(defaultRegister.getSingleMetric(ACQUIRE)).toBeDefined();
    end();
    defaultRegister.clear();
  });

  it('refuses a registry that has another metric of its name', () => {
    const register = new Registry();
    const name = 'holdfast_lock_release_failures_total';
    register.registerMetric(new Counter({ name, help: 'mine', registers: [] }));
    const { locks } = inMemory();
    const error = errorOf(() => lockMetrics(locks, { register }));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(
      `lockMetrics: register must not have a "${name}" yet, got one that is not of nest-holdfast`,
    );
    expect(locks.events.listenerCount('held')).toBe(inMemory().locks.events.listenerCount('held'));
  });

  it.each([
    [undefined, 'undefined'],
    [new MemoryLockStore(), 'an object'],
  ])('refuses %p in place of a LockService', (locks, shown) => {
    expect(() => lockMetrics(locks as unknown as LockService)).toThrow(
      `lockMetrics: the first argument must be a LockService, got ${shown}`,
    );
  });
});
