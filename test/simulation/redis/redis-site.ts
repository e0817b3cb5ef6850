import type { Connection } from './connection.js';
import type { Machine } from '../world/machine.js';
import type { Network } from '../world/network.js';
import type { World } from '../world/world.js';
import { SimulatedRedis } from './server/simulated-redis.js';

/** A server and the connections to it. */
export class RedisSite {
  readonly connections = new Set<Connection>();
  readonly server: SimulatedRedis;
  readonly world: World;
  readonly #network: Network;

  constructor(
    world: World,
    network: Network,
    machine: Machine,
    script?: (source: string) => string,
  ) {
    this.world = world;
    this.#network = network;
    this.server = new SimulatedRedis(machine, 'a', script);
  }

  /** When what a machine sends or gets now has come through. */
  arrival(machine: Machine): number {
    return this.#network.arrival(machine);
  }

  /** All connections of a machine are cut, or those of all. */
  cut(machine?: Machine): void {
    const own = [...this.connections].filter((each) => each.machine === (machine ?? each.machine));
    for (const connection of own) connection.cut();
  }

  /** The server comes back empty. */
  restart(): void {
    this.cut();
    this.server.restart();
  }

  /** The replica takes over, and the server that was before is gone. */
  failOver(): void {
    this.cut();
    this.server.failOver();
  }
}
