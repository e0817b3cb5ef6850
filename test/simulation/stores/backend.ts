import type { LockStore } from '../../../lib/core/contract/lock-store.js';
import { MemoryLockStore } from '../../../lib/stores/memory/memory-lock.store.js';
import type { Bug } from '../bug.js';
import type { Backing, Fault } from '../schedule.js';
import { Machine } from '../world/machine.js';
import { type Disturbance, Network } from '../world/network.js';
import type { World } from '../world/world.js';
import { differentMachine, seedFrom } from './different-machine.js';
import { openRedis } from './redis-backend.js';
import { openRedlock } from './redlock-backend.js';
import { RemoteStore } from './remote-store.js';

/** Where the processes of a run have their locks. */
export interface Backend {
  /** The machine of a new process. */
  machineFor(name: string): Machine;
  /** To be called as code of the machine. */
  storeFor(machine: Machine): LockStore;
  /** Of its network, or of a server. */
  disturb(machine: Machine, fault: Fault): void;
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
  if (backing === 'redis') return openRedis(world, random, bug, 0);
  if (backing === 'replica') return openRedis(world, random, bug, 1);
  if (backing === 'redlock') return openRedlock(world, random, bug);
  const server = new Machine(world, backing, { seed: seedFrom(random) });
  const store = world.as(server, () => bug.memory?.() ?? new MemoryLockStore());
  const held = () => world.as(server, () => store.held());
  const network = new Network(world, random);
  const disturb: Backend['disturb'] = (machine, { kind, ms }) =>
    network.disturb(machine, kind as Disturbance, ms);
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
