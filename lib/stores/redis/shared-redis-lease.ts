import type { Lease } from '../../core/lock-store.js';
import type { Held } from './held.js';
import { release } from './lease-surroundings.js';
import type { LeaseSurroundings } from './lease-surroundings.js';
import { RELEASE_SHARED } from './shared-scripts.js';

/** One of those who share some locks. A claim is extended like any other. */
export class SharedRedisLease implements Lease {
  readonly #held: Held;
  readonly #around: LeaseSurroundings;
  #isReleased = false;

  constructor(held: Held, around: LeaseSurroundings) {
    this.#held = held;
    this.#around = around;
  }

  extend(ttl: number): Promise<boolean> {
    return this.#around.sharedExtensions.extend(this.#held, ttl);
  }

  release(): Promise<boolean> {
    if (this.#isReleased) return Promise.resolve(false);
    this.#isReleased = true;
    return release(this.#around.runner, RELEASE_SHARED, this.#held);
  }
}
