import { Machine } from '../world/machine.js';
import type { World } from '../world/world.js';

/** With clocks that are off, and a little too fast or too slow. */
export function differentMachine(world: World, name: string, random: () => number): Machine {
  const seed = seedFrom(random);
  const rate = 0.997 + random() * 0.006;
  return new Machine(world, name, { seed, rate, wallOffset: (random() - 0.5) * 1_000 });
}

export function seedFrom(random: () => number): number {
  return Math.floor(random() * 2 ** 32);
}
