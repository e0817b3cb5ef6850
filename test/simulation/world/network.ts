import type { Machine } from './machine.js';
import type { World } from './world.js';

/** A fault of the messages of one machine. */
export type Disturbance = 'partition' | 'slow' | 'lossy' | 'duplicate';

const LOSS = 0.4;
/** Milliseconds that a message takes. */
const USUAL = 2;
const SLOW = 400;
const RESEND = 200;

/** Messages between machines: each takes its own time, so that they overtake each other, and may be lost or come twice. */
export class Network {
  readonly #world: World;
  readonly #random: () => number;
  readonly #until = new Map<Machine, Partial<Record<Disturbance, number>>>();

  constructor(world: World, random: () => number) {
    this.#world = world;
    this.#random = random;
  }

  get now(): number {
    return this.#world.now;
  }

  disturb(machine: Machine, how: Disturbance, ms: number): void {
    const until = this.#until.get(machine) ?? {};
    until[how] = Math.max(until[how] ?? 0, this.#world.now + ms);
    this.#until.set(machine, until);
  }

  is(machine: Machine, how: Disturbance): boolean {
    return (this.#until.get(machine)?.[how] ?? 0) > this.#world.now;
  }

  /** When a stream gets through: TCP sends once more what is lost. */
  arrival(machine: Machine): number {
    const { partition = 0, lossy = 0 } = this.#until.get(machine) ?? {};
    const isLost = lossy > this.#world.now && this.#random() < LOSS;
    const sent = Math.max(this.#world.now, partition) + (isLost ? RESEND : 0);
    return sent + this.#random() * (this.is(machine, 'slow') ? SLOW : USUAL);
  }

  /** Between `client` and `server`, one way: runs `arrive` on machine `to`. */
  send(client: Machine, to: Machine, what: string, arrive: () => void): void {
    const isLost =
      this.is(client, 'partition') || (this.is(client, 'lossy') && this.#random() < LOSS);
    if (isLost) return this.#world.say('network', `lost: ${what}`);
    const copies = this.is(client, 'duplicate') && this.#random() < 0.5 ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const takes = this.#random() * (this.is(client, 'slow') ? SLOW : USUAL);
      this.#world.at(this.#world.now + takes, () => to.take('message', arrive));
    }
  }
}
