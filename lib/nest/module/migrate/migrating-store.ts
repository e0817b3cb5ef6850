import type { Clock } from '../../../core/async/clock.js';
import type { LockStore } from '../../../core/contract/lock-store.js';
import { connectAll } from '../redis/redis-nodes.js';
import type { RedisConnections } from '../redis/redis-nodes.js';
import type { SilenceLimits } from '../redis/redis-defaults.js';
import type { MigrationSideOptions, ModuleMigrationOptions } from './migrate-options.js';

/** The connections of both stores. The client that is provided is that of the store that is moved to. */
export interface MigrationConnections extends RedisConnections {
  readonly from: RedisConnections | undefined;
  readonly to: RedisConnections | undefined;
}

/** Makes the store of one side; `client` is what its `redis` led to. */
type MakeStore = (
  side: MigrationSideOptions,
  client: RedisConnections['client'] | undefined,
) => Promise<LockStore>;

/** When one side is unusable, the other one is closed again. */
export async function connectSides(
  { from, to }: ModuleMigrationOptions,
  limits: SilenceLimits,
): Promise<MigrationConnections> {
  const sides = await Promise.allSettled([from, to].map((each) => connect(each, limits)));
  const opened = sides.map((side) => (side.status === 'fulfilled' ? side.value : undefined));
  const close = async () => void (await Promise.all(opened.map(async (each) => each?.close())));
  const failed = sides.find((side) => side.status === 'rejected');
  if (failed) {
    await close();
    throw failed.reason;
  }
  const [one, other] = opened;
  return { from: one, to: other, client: (other ?? one)?.client ?? [], close };
}

/** Resolves once locks can be taken. Rejects with `MigrationError` where the phase comes too early. */
export async function migratingStore(
  { from, to, ...phase }: ModuleMigrationOptions,
  connections: MigrationConnections | undefined,
  make: MakeStore,
  clock: Clock | undefined,
): Promise<LockStore> {
  const { MigratingLockStore } = await import('../../../migrate/migrating-lock.store.js');
  const one = from && (await make(from, connections?.from?.client));
  const other = await make(to, connections?.to?.client);
  const store = new MigratingLockStore({ from: one, to: other, ...phase, clock });
  try {
    await store.ready();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function connect(
  side: MigrationSideOptions | undefined,
  limits: SilenceLimits,
): Promise<RedisConnections | undefined> {
  return side?.redis === undefined ? undefined : connectAll(side.redis, limits);
}
