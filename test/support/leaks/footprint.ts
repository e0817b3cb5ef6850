import { createHook } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';

/** The resources of a process at one moment. */
export interface Footprint {
  readonly heap: number;
  /** The handles that keep the event loop alive, by their kinds. */
  readonly resources: readonly string[];
  /** Timers of every sort, also those that keep nothing alive. */
  readonly timers: number;
}

const timers = new Set<number>();

/** Only timers that are made after this are counted. */
export function countTimers(): void {
  createHook({
    init: (id, type) => void (type === 'Timeout' && timers.add(id)),
    destroy: (id) => void timers.delete(id),
  }).enable();
}

/** Needs `--expose-gc`. */
export async function footprint(): Promise<Footprint> {
  for (let round = 0; round < 3; round += 1) {
    await turn();
    globalThis.gc!();
  }
  const resources = process.getActiveResourcesInfo().toSorted();
  return { heap: process.memoryUsage().heapUsed, resources, timers: timers.size };
}
