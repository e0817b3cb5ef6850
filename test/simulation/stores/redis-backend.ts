import { RedisLockStore } from '../../../lib/stores/redis/redis-lock.store.js';
import type { Bug } from '../bug.js';
import { RedisSite } from '../redis/redis-site.js';
import { SimulatedClient } from '../redis/simulated-client.js';
import { type Disturbance, Network } from '../world/network.js';
import type { World } from '../world/world.js';
import type { Backend } from './backend.js';
import { differentMachine } from './different-machine.js';

/** One server, with a replica that may take over if `replicas` is 1. */
export function openRedis(world: World, random: () => number, bug: Bug, replicas: number): Backend {
  const network = new Network(world, random);
  const site = new RedisSite(world, network, differentMachine(world, 'redis', random), bug.script);
  const options = { serverChecks: false, replicas, ...bug.redis };
  return {
    held: () => site.server.keys.names.filter((name) => name.startsWith('lock:')),
    machineFor: (name) => differentMachine(world, name, random),
    storeFor: (machine) => new RedisLockStore(new SimulatedClient(site, machine), options),
    /** A connection is lost in place of messages that come twice: the client then sends again what was not answered. */
    disturb(machine, { kind, ms }) {
      if (kind === 'failover') site.failOver();
      else if (kind === 'duplicate') site.cut(machine);
      else network.disturb(machine, kind as Disturbance, ms);
    },
    crashed: (machine) => site.cut(machine),
  };
}
