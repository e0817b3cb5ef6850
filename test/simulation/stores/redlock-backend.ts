import { RedisLockStore } from '../../../lib/stores/redis/redis-lock.store.js';
import { RedlockStore } from '../../../lib/stores/redlock/redlock.store.js';
import type { Bug } from '../bug.js';
import { RedisSite } from '../redis/redis-site.js';
import { SimulatedClient } from '../redis/simulated-client.js';
import type { Machine } from '../world/machine.js';
import { type Disturbance, Network } from '../world/network.js';
import type { World } from '../world/world.js';
import type { Backend } from './backend.js';
import { differentMachine } from './different-machine.js';

const NODES = 3;
const MAJORITY = 2;
/** Longer than any ttl of a schedule. */
const LARGEST_TTL = 4_000;

/** Three servers, of which each holder has two. */
export function openRedlock(world: World, random: () => number, bug: Bug): Backend {
  const network = new Network(world, random);
  const sites = Array.from({ length: NODES }, (_, index) => {
    const machine = differentMachine(world, `redis ${index}`, random);
    return new RedisSite(world, network, machine, bug.script);
  });
  const options = { largestTtl: LARGEST_TTL, ...bug.redlock };
  const nodeFor = (site: RedisSite, machine: Machine) => {
    const client = new SimulatedClient(site, machine);
    const node = new RedisLockStore(client, { serverChecks: false, ...bug.redis });
    return bug.node?.(node) ?? node;
  };
  const cut = (machine: Machine) => sites.forEach((site) => site.cut(machine));
  return {
    held: () => heldByMost(sites),
    machineFor: (name) => differentMachine(world, name, random),
    storeFor: (machine) =>
      new RedlockStore(
        sites.map((site) => nodeFor(site, machine)),
        options,
      ),
    /** The node that is hit follows from the time. */
    disturb(machine, { kind, ms, at }) {
      const site = sites[at % NODES]!;
      if (kind === 'restart') site.restart();
      else if (kind === 'hang') site.server.machine.pause(ms);
      else if (kind === 'duplicate') cut(machine);
      else network.disturb(machine, kind as Disturbance, ms);
    },
    crashed: cut,
  };
}

function heldByMost(sites: readonly RedisSite[]): string[] {
  const names = sites.flatMap(({ server }) => server.keys.names);
  const locks = names.filter((name) => name.startsWith('lock:'));
  const isOfMost = (name: string) => locks.filter((each) => each === name).length >= MAJORITY;
  return [...new Set(locks.filter(isOfMost))];
}
