import { setTimeout as pause } from 'node:timers/promises';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import { seeded } from '../../support/histories/history-random';

const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 32);
const KEYS = ['a', 'b', 'c'];
const CALLERS = 16;
const ROUNDS = 30;

class QueuesAllCallers extends MemoryLockStore {
  override readonly supports = {
    fencing: true,
    ttl: true,
    manyKeys: true,
    queuesAllCallers: true,
    readLocks: true,
    semaphores: true,
  } as const;
}
class Polled extends MemoryLockStore {
  override acquire = undefined as never;
}

/** The present holders of each key, and whether they may hold it together. */
class Rooms {
  readonly wrong: string[] = [];
  readonly #inside = new Map(KEYS.map((key) => [key, { write: 0, read: 0 }]));

  enter(keys: readonly string[], kind: 'write' | 'read', most = Infinity): void {
    for (const key of keys) {
      const room = this.#inside.get(key)!;
      room[kind]++;
      const isWrong = room.write > 1 || (room.write === 1 && room.read > 0) || room.read > most;
      if (isWrong) this.wrong.push(`${key}: ${JSON.stringify(room)}`);
    }
  }

  leave(keys: readonly string[], kind: 'write' | 'read'): void {
    for (const key of keys) this.#inside.get(key)![kind]--;
  }
}

describe.each([
  ['with a line behind those of its services', MemoryLockStore],
  ['with a queue for all callers', QueuesAllCallers],
  ['that is polled', Polled],
])(`callers of two services on a store %s (seed ${SEED})`, (_, Store) => {
  const random = seeded(SEED);
  const int = (to: number) => Math.floor(random() * (to + 1));
  const start = () => {
    const store = new Store();
    const options = { retryDelay: 2, retryJitter: 2, waitTimeout: 60_000 };
    return [0, 1].map(() => new LockService(store, options));
  };
  const callers = (call: () => Promise<void>) =>
    Promise.all(
      Array.from({ length: CALLERS }, async () => {
        for (let round = 0; round < ROUNDS; round++) await call();
      }),
    );
  const someKeys = () => KEYS.filter(() => random() < 0.5);
  const impatience = () => (random() < 0.3 ? AbortSignal.timeout(int(6)) : undefined);

  it('read together, write alone, downgrade and give up, and nothing stays taken', async () => {
    const services = start();
    const rooms = new Rooms();
    await callers(async () => {
      const keys = [...someKeys(), 'a'];
      const mode = random() < 0.3 ? 'write' : 'read';
      const work = services[int(1)]!.withLock(
        keys,
        { mode, signal: impatience() },
        async (lock) => {
          rooms.enter(lock.keys, mode);
          await pause(int(2));
          rooms.leave(lock.keys, mode);
          if (mode === 'read' || random() < 0.5) return;
          await lock.downgrade();
          rooms.enter(lock.keys, 'read');
          await pause(1);
          rooms.leave(lock.keys, 'read');
        },
      );
      await work.catch((error: Error) => expect(error.name).toBe('TimeoutError'));
    });
    expect(rooms.wrong).toEqual([]);
    for (const each of services) await each.withLock(KEYS, { waitTimeout: 0 }, () => undefined);
  });

  it('never have more than three permits, and all of these', async () => {
    const services = start();
    const rooms = new Rooms();
    await callers(async () => {
      const options = { permits: 3, signal: impatience() };
      const work = services[int(1)]!.withPermit([...someKeys(), 'a'], options, async ({ keys }) => {
        rooms.enter(keys, 'read', 3);
        await pause(int(2));
        rooms.leave(keys, 'read');
      });
      await work.catch((error: Error) => expect(error.name).toBe('TimeoutError'));
    });
    expect(rooms.wrong).toEqual([]);
    for (const each of services) await each.withLock(KEYS, { waitTimeout: 0 }, () => undefined);
  });
});
