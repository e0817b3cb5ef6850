import type { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { RedlockStore } from 'nest-holdfast/redlock';
import Redlock from 'redlock';
import { Mutex, RedlockMutex } from 'redis-semaphore';
import { until } from '../../support/until.js';

/** A lock library that holds keys of its own on the same servers. */
interface OtherSide {
  /** One attempt. Rejects while another caller has the key. */
  hold(key: string): Promise<{ release(): Promise<unknown> }>;
  /** Runs the work under the lock, however long it has to wait for it. */
  wait(key: string, work: () => Promise<void>): Promise<void>;
}

interface OtherLibrary {
  readonly name: string;
  /** Its row in the table of prefixes. */
  readonly row: string;
  readonly keyPrefix: string;
  /** Redis servers that it locks on. */
  readonly servers: number;
  readonly connect: (clients: readonly Redis[]) => OtherSide;
}

const TTL = 60_000;

/** Real packages that a user may come from, each with the prefix that docs/migrating.md tells. */
export const OTHER_LIBRARIES: readonly OtherLibrary[] = [
  { name: 'redlock', servers: 1, ...redlock() },
  { name: 'redlock on three servers', servers: 3, ...redlock() },
  {
    name: 'the Mutex of redis-semaphore',
    servers: 1,
    ...redisSemaphore(([client], key, options) => new Mutex(client!, key, options)),
  },
  {
    name: 'the RedlockMutex of redis-semaphore on three servers',
    servers: 3,
    ...redisSemaphore((clients, key, options) => new RedlockMutex([...clients], key, options)),
  },
];

/** Our locks on these servers. */
export function ownLocks(clients: readonly Redis[], keyPrefix: string): LockService {
  const stores = clients.map((client) => new RedisLockStore(client, { keyPrefix }));
  const quorum = { nodeTimeout: 10_000, quarantine: false }; // the servers have just started, on a busy machine
  return new LockService(stores.length > 1 ? new RedlockStore(stores, quorum) : stores[0]!);
}

function redlock() {
  const connect = (clients: readonly Redis[]): OtherSide => {
    const once = new Redlock([...clients], { retryCount: 0 });
    return {
      hold: (key) => once.acquire([key], TTL),
      /** By single attempts: with `retryCount`, what an attempt got at a minority of the servers stays there until the last one. */
      async wait(key, work) {
        const lock = await until(() => once.acquire([key], TTL), { within: TTL });
        await work();
        await lock.release();
      },
    };
  };
  return { row: 'redlock 4 and 5', keyPrefix: '', connect };
}

function redisSemaphore(
  make: (clients: readonly Redis[], key: string, options: object) => Mutex | RedlockMutex,
) {
  const connect = (clients: readonly Redis[]): OtherSide => ({
    async hold(key) {
      const mutex = make(clients, key, { lockTimeout: TTL, acquireAttemptsLimit: 1 });
      await mutex.acquire();
      return mutex;
    },
    async wait(key, work) {
      const mutex = make(clients, key, { lockTimeout: TTL, acquireTimeout: TTL });
      await mutex.acquire();
      await work();
      await mutex.release();
    },
  });
  return { row: 'redis-semaphore: `Mutex`', keyPrefix: 'mutex:', connect };
}
