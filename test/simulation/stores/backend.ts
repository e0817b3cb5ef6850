import type { LockStore } from '../../../lib/core/contract/lock-store.js';
import { MemoryLockStore } from '../../../lib/stores/memory/memory-lock.store.js';
import { RedisLockStore } from '../../../lib/stores/redis/redis-lock.store.js';
import { RedisSite } from '../redis/redis-site.js';
import { SimulatedClient } from '../redis/simulated-client.js';
import type { Bug } from '../bug.js';
import type { Backing } from '../schedule.js';
import { Machine } from '../world/machine.js';
import { type Disturbance, Network } from '../world/network.js';
import type { World } from '../world/world.js';
import { RemoteStore } from './remote-store.js';

/** Where the processes of a run have their locks. */
export interface Backend {
  /** The machine of a new process. */
  machineFor(name: string): Machine;
  /** To be called as code of the machine. */
  storeFor(machine: Machine): LockStore;
  disturb(machine: Machine, how: Disturbance, ms: number): void;
  /** The process has crashed. */
  crashed?(machine: Machine): void;
  /** The keys that are held. */
  held(): string[];
  /** The most attempts that one process made within a second. */
  attempts?(): number;
}

export function openBackend(
  backing: Backing,
  world: World,
  random: () => number,
  bug: Bug,
): Backend {
  if (backing === 'redis') return openRedis(world, random, bug);
  const server = new Machine(world, backing, { seed: seedFrom(random) });
  const store = world.as(server, () => bug.memory?.() ?? new MemoryLockStore());
  const held = () => world.as(server, () => store.held());
  const network = new Network(world, random);
  const disturb = network.disturb.bind(network);
  if (backing === 'memory') return { held, disturb, machineFor: () => server, storeFor: () => store }; // prettier-ignore
  const stores: RemoteStore[] = [];
  const remote = bug.server?.(store) ?? store;
  return {
    held,
    disturb,
    machineFor: (name) => differentMachine(world, name, random),
    attempts: () => Math.max(...stores.map(({ mostAttempts }) => mostAttempts)),
    storeFor(machine) {
      stores.push(new RemoteStore(remote, network, machine, server));
      return stores.at(-1)!;
    },
  };
}

function openRedis(world: World, random: () => number, bug: Bug): Backend {
  const network = new Network(world, random);
  const site = new RedisSite(world, network, differentMachine(world, 'redis', random), bug.script);
  return {
    held: () => site.server.keys.names.filter((name) => name.startsWith('lock:')),
    machineFor: (name) => differentMachine(world, name, random),
    storeFor: (machine) =>
      new RedisLockStore(new SimulatedClient(site, machine), { serverChecks: false }),
    /** A connection is lost in place of messages that come twice: the client then sends again what was not answered. */
    disturb(machine, how, ms) {
      if (how === 'duplicate') site.cut(machine);
      else network.disturb(machine, how, ms);
    },
    crashed: (machine) => site.cut(machine),
  };
}

/** With clocks that are off, and a little too fast or too slow. */
export function differentMachine(world: World, name: string, random: () => number): Machine {
  const seed = seedFrom(random);
  const rate = 0.997 + random() * 0.006;
  return new Machine(world, name, { seed, rate, wallOffset: (random() - 0.5) * 1_000 });
}

function seedFrom(random: () => number): number {
  return Math.floor(random() * 2 ** 32);
}
