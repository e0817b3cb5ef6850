import { getEventListeners } from 'node:events';
import { LeaderElection, LockService, MemoryLockStore } from 'nest-holdfast';
import { FencingGate } from 'nest-holdfast/fencing';
import { offAbort } from '../../../lib/core/async/abort-listeners.js';
import { until } from '../../support/until.js';

const MANY = 30;

/** Node warns of a leak when a signal has more than ten. */
const listeners = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length;

describe('a signal that many callers share', () => {
  it('ends all of their waits, has one listener for them, and keeps none', async () => {
    const locks = new LockService(new MemoryLockStore());
    const shutdown = new AbortController();
    const { signal } = shutdown;
    await locks.acquire('busy');
    const waits = Array.from({ length: MANY }, () => locks.acquire('busy', { signal }));
    const others = Array.from({ length: MANY }, (_, index) =>
      locks.acquire(`free:${index}`, { signal }),
    );
    await Promise.all(others);
    expect(listeners(shutdown)).toBe(1);
    shutdown.abort(new Error('stop'));
    const ends = await Promise.allSettled(waits);
    expect(ends).toEqual(
      ends.map(() => ({
        status: 'rejected',
        reason: expect.objectContaining({ message: 'stop' }),
      })),
    );
    expect(listeners(shutdown)).toBe(0);
    await locks.close();
  });

  it('may be left by a caller that never listened to it', () => {
    const shutdown = new AbortController();
    expect(() => offAbort(shutdown.signal, { handleEvent: () => undefined })).not.toThrow();
    expect(listeners(shutdown)).toBe(0);
  });

  it('also at a gate', async () => {
    const gate = new FencingGate();
    const shutdown = new AbortController();
    const { signal } = shutdown;
    const holder = { key: 'a', fencingToken: 1n };
    let end!: () => void;
    const first = gate.run(holder, () => new Promise<void>((resolve) => (end = resolve)));
    const waits = Array.from({ length: MANY }, () => gate.run(holder, () => 1, { signal }));
    expect(listeners(shutdown)).toBe(1);
    shutdown.abort(new Error('stop'));
    const ends = await Promise.allSettled(waits);
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    end();
    await first;
  });
});

it('many elections of one service get no warning of a leak, and leave what a service admits as it was', async () => {
  const locks = new LockService(new MemoryLockStore());
  const most = locks.events.getMaxListeners();
  const elections = Array.from(
    { length: MANY },
    (_, index) => new LeaderElection(locks, `job:${index}`),
  );
  for (const election of elections) election.start();
  await until(() => elections.every(({ isLeader }) => isLeader));
  expect(locks.events.listenerCount('jeopardy')).toBe(MANY);
  expect(locks.events.getMaxListeners()).toBe(most + MANY);
  await Promise.all(elections.map((election) => election.stop()));
  expect(locks.events.getMaxListeners()).toBe(most);
  await locks.close();
});
