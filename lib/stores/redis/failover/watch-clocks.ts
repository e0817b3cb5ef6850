import type { StoreDoubt } from '../../../core/lock-store.js';
import { isClusterClient, nodeName } from '../cluster-client.js';
import type { RedisClient } from '../redis-client.js';
import { ClockWatch } from './clock-watch.js';
import type { ServerClock } from './clock-watch.js';

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
    get status() {
      return client.status;
    },
    time: () => client.time(),
  };
}

function whySet(name: string, by: number): string {
  return `the clock of ${name} was set ${by < 0 ? 'back' : 'forward'} by ${Math.abs(by)} ms`;
}
