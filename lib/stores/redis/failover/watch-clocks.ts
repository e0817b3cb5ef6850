import { reasonOf } from '../../../core/contract/safe-error.js';
import type { StoreDoubt } from '../../../core/contract/lock-store.js';
import { isClusterClient, nodeName } from '../../../redis-client/cluster-client.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';
import { ClockWatch, whySet } from '../../../core/store/clock-watch.js';
import type { ServerClock } from '../../../core/store/clock-watch.js';
import { asTime } from '../lua/replies.js';

interface TimedClient extends RedisClient {
  readonly status: string;
  time(): Promise<unknown>;
}

/** Doubts the locks of a server whose clock was set. On a Cluster, those in its slots, which `slotsOf` knows. */
export function watchClocks(
  client: RedisClient,
  slotsOf: (keys: readonly string[]) => readonly number[],
  tell: (doubt: StoreDoubt) => void,
): ClockWatch {
  if (!isClusterClient(client)) {
    const only = hasTime(client) ? [clockOf(client, 'the server')] : [];
    return new ClockWatch(
      () => only,
      (name, by) => tell({ type: 'doubt', reason: whySet(name, by) }),
    );
  }
  const masters = () =>
    client.nodes('master').flatMap((node) => (hasTime(node) ? clockOf(node, nodeName(node)) : []));
  return new ClockWatch(masters, (name, by) => {
    const isThere = (slot: number) => client.slots[slot]?.[0] === name;
    const concerns = (keys: readonly string[]) => slotsOf(keys).some(isThere);
    tell({ type: 'doubt', reason: whySet(name, by), concerns });
  });
}

function hasTime<Client extends RedisClient>(client: Client): client is Client & TimedClient {
  return typeof (client as Partial<TimedClient>).time === 'function';
}

function clockOf(client: TimedClient, name: string): ServerClock {
  return {
    name,
    get isReady() {
      return client.status === 'ready';
    },
    time: async () => asTime(await client.time()),
    isForbidden: (error) => reasonOf(error).startsWith('NOPERM'),
  };
}
