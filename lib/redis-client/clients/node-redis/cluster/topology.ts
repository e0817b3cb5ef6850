import { EventEmitter } from 'node:events';
import { systemClock } from '../../../../core/async/clock.js';
import type { Cancel } from '../../../../core/async/clock.js';
import { inRootContext } from '../../../../core/async/root-context.js';
import type { SlotMap } from './slot-map.js';
import type { Teller } from './tellers.js';

/** Milliseconds between two looks at the slots. As ioredis does by default. */
const EVERY = 5_000;
/** Milliseconds until the look after one that failed, more each time. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 2_000;

/** The slots of a Cluster, as its nodes tell them. Emits `refresh` when they have, and `failed` with an error when none did. */
export class ClusterTopology extends EventEmitter {
  readonly #tellers: () => readonly Teller[];
  #map: SlotMap | undefined;
  #reading: Promise<void> | undefined;
  #failures = 0;
  #isStopped = false;
  #cancel: Cancel | undefined;

  /** `tellers` are asked one after the other, until one answers. */
  constructor(tellers: () => readonly Teller[]) {
    super();
    this.#tellers = tellers;
  }

  get map(): SlotMap | undefined {
    return this.#map;
  }

  /** The last look found no node that tells the slots. */
  get isLost(): boolean {
    return this.#failures > 0;
  }

  /** One look for all that ask meanwhile. Rejects when no node tells the slots. */
  refresh(): Promise<void> {
    this.#isStopped = false;
    return (this.#reading ??= inRootContext(() =>
      this.#read().finally(() => {
        this.#reading = undefined;
        this.#schedule();
      }),
    ));
  }

  /** A node has told where a slot is now. */
  moved(slot: number, name: string): void {
    if (this.#map) this.#map.slots[slot] = [name];
    this.refresh().catch(() => undefined);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #read(): Promise<void> {
    try {
      this.#map = await this.#told();
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      this.emit('failed', error);
      throw error;
    }
    this.emit('refresh');
  }

  async #told(): Promise<SlotMap> {
    let lastNodeError: unknown;
    for (const teller of this.#tellers()) {
      try {
        return await teller();
      } catch (error) {
        lastNodeError = error;
      }
    }
    const error = new Error('no node of the Cluster tells its slots:');
    throw Object.assign(error, { lastNodeError });
  }

  #schedule(): void {
    this.#cancel?.();
    if (this.#isStopped) return;
    const pause = this.isLost ? Math.min(this.#failures * FIRST_PAUSE, LONGEST_PAUSE) : EVERY;
    const look = () => void this.refresh().catch(() => undefined);
    this.#cancel = systemClock.schedule(pause, look, true);
  }
}
