import { deferred, never, watch } from '../support/outcome';
import { onFakeStore } from '../support/setup';

const TTL = 1_000;

/** A lock whose extensions are answered by hand, and fail after a third of the ttl without an answer. */
async function lockOf(options: { autoExtend?: boolean } = {}) {
  const { locks, lease, clock, events } = onFakeStore({ ttl: TTL, ...options });
  const lock = await locks.acquire('a');
  const answers = Array.from({ length: 10 }, () => deferred<boolean>());
  lease.onExtend = () => answers[lease.extensions.length - 1]!.promise;
  return { lock, lease, clock, events, answers };
}

describe('an extension that is answered late, while the lock is held', () => {
  it('counts from its request: the lock is not lost', async () => {
    const { lock, lease, clock, answers } = await lockOf();
    await clock.advance(700);
    expect(lock.state).toBe('jeopardy');
    lease.onExtend = never;
    answers[0]!.resolve(true);
    await clock.advance(0);
    expect(lock.state).toBe('held');
    expect(lock.remaining).toBeCloseTo(TTL / 3 + 988 - 700);
    expect(lease.releases).toBe(0);
    await clock.advance(500);
    expect(lock.isHeld).toBe(true);
  });

  it('ends the lock at once, when it says that the key is gone', async () => {
    const { lock, clock, events, answers } = await lockOf();
    await clock.advance(700);
    answers[0]!.resolve(false);
    await clock.advance(0);
    expect(lock.state).toBe('lost');
    expect(events).toContain('lost');
  });

  it('says nothing by an answer that is no boolean', async () => {
    const { lock, clock, answers } = await lockOf();
    await clock.advance(700);
    answers[0]!.resolve('OK' as unknown as boolean);
    await clock.advance(0);
    expect(lock.state).toBe('jeopardy');
  });

  it('does not move the end back that a later one has moved', async () => {
    const { lock, clock, answers } = await lockOf({ autoExtend: false });
    const extended = [watch(lock.extend(TTL)), watch(lock.extend(TTL))];
    await clock.advance(400);
    expect(extended[0]!.status).toBe('rejected');
    answers[1]!.resolve(true);
    await clock.advance(0);
    const { remaining } = lock;
    answers[0]!.resolve(true);
    await clock.advance(0);
    expect(lock.remaining).toBe(remaining);
  });

  it('does not count beside a later one that ends earlier, whichever the store has made last', async () => {
    const { lock, clock, answers } = await lockOf({ autoExtend: false });
    watch(lock.extend(10 * TTL));
    await clock.advance(400);
    watch(lock.extend(2 * TTL));
    await clock.advance(10);
    answers[0]!.resolve(true);
    await clock.advance(0);
    expect(lock.remaining).toBe(988 - 410);
  });
});
