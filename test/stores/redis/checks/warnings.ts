import type { Cluster, Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import type { LockWarningEvent, RedisClient } from 'nest-holdfast';
import type { RedisLockStoreOptions } from 'nest-holdfast';

export type Client = RedisClient & Pick<Redis | Cluster, 'disconnect'>;

/** A service whose warnings are kept, and what is needed to know that a check is over. */
export function warningsOf(client: Client, options: RedisLockStoreOptions = {}) {
  const store = new RedisLockStore(client, { serverChecks: true, ...options });
  const locks = new LockService(store);
  const warnings: LockWarningEvent[] = [];
  locks.events.on('warning', (warning) => warnings.push(warning));
  return {
    locks,
    warnings,
    codes: () => warnings.map(({ code }) => code).toSorted(),
    close: async () => {
      await locks.close();
      client.disconnect();
    },
  };
}
