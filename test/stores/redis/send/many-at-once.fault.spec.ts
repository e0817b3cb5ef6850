import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock } from 'nest-holdfast';
import { RedisLocks } from '../locks.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';

const LOCKS = 1_000;
const TTL = 6_000;
/** The validity right after an extension: the ttl without 1 % and 2 ms for the drift of clocks. */
const VALIDITY = TTL * 0.99 - 2;
const CALLERS = 100;

describe('Many at once', () => {
  it('of 1,000 held locks with a ttl of 6 s, a pause of 1.6 s loses none', async () => {
    await using server = await RedisServer.start();
    await using own = new RedisLocks(server.url, { ttl: TTL });
    const lost = jest.fn();
    own.locks.events.on('lost', lost);
    const acquiredAt = performance.now();
    const keys = Array.from({ length: LOCKS }, (_, index) => `order:${index}`);
    const held = await Promise.all(keys.map((key) => own.locks.acquire(key)));

    // From 4.6 s to 6.2 s: an extension due at 3/3 of the ttl falls into the pause, and so does one at 80 % of it.
    await sleep(4_600 - (performance.now() - acquiredAt));
    server.pause();
    await sleep(1_600);
    server.resume();
    for (let round = 1; round <= 2; round += 1) {
      const since = performance.now();
      await until(() => held.every((lock) => wasExtended(lock, since)));
    }

    expect(lost).not.toHaveBeenCalled();
    const released = await Promise.all(held.map((lock) => lock.release()));
    expect(released.filter(Boolean)).toHaveLength(LOCKS);
    await nothingLeft(server);
  });

  it('of 100 callers with 20 ms of work each, none is refused by the defaults', async () => {
    await using server = await RedisServer.start();
    await using own = new RedisLocks(server.url);
    let inside = 0;
    const work = async () => {
      expect((inside += 1)).toBe(1);
      await sleep(20);
      inside -= 1;
      return 'done';
    };
    const callers = Array.from({ length: CALLERS }, () => own.locks.withLock('order:42', work));
    const ends = await Promise.allSettled(callers);
    expect(ends.filter(({ status }) => status === 'rejected')).toEqual([]);
    await nothingLeft(server);
  });
});

function wasExtended(lock: Lock, since: number): boolean {
  return lock.remaining >= VALIDITY - (performance.now() - since);
}
