import type { QueuedTimer, TimerQueue } from '../async/timer-queue.js';
import type { KeeperEntry } from './lease-context.js';

/** Leases of one bundle: enough to save calls, and few enough not to block the server for other clients. */
export const MOST_IN_BUNDLE = 100;
/** Fraction of the ttl by which an extension may come earlier, so that locks taken in one burst are not extended in one. */
const SPREAD = 0.08;
/** The golden ratio: the fractional parts of its multiples are spread as evenly as a growing sequence can be. */
const EVENLY = 0.618034;
/** Fraction of the ttl to which due times are rounded down, so that bundles fall due together. */
const STEP = 0.01;

/** Leases of one ttl that are extended together. */
class LeaseBundle<Entry extends KeeperEntry> implements QueuedTimer {
  index = -1;
  readonly entries: Entry[] = [];

  constructor(
    readonly ttl: number,
    public due: number,
    readonly run: () => void,
  ) {}

  add(entry: Entry): void {
    entry.bundle = this;
    entry.place = this.entries.push(entry) - 1;
  }

  remove(entry: Entry): void {
    const last = this.entries.pop()!;
    if (last !== entry) {
      this.entries[entry.place] = last;
      last.place = entry.place;
    }
    entry.bundle = undefined;
  }
}

/** Puts leases of one ttl that fall due at about the same time behind one timer (`bench/renewal.mjs`). */
export class LeaseBundles<Entry extends KeeperEntry> {
  readonly #timers: TimerQueue;
  readonly #wake: (entries: readonly Entry[], ttl: number) => void;
  /** For each ttl, the bundle that accepts more leases. */
  readonly #open = new Map<number, LeaseBundle<Entry>>();
  /** Position of the next bundle in the spread, from 0 to 1. */
  #place = Math.random();

  /** `wake` gets the leases of a due bundle, which have left it. */
  constructor(timers: TimerQueue, wake: (entries: readonly Entry[], ttl: number) => void) {
    this.#timers = timers;
    this.#wake = wake;
  }

  /** For a lease in no bundle. It is woken at `latest` or a little earlier. */
  join(entry: Entry, ttl: number, latest: number): void {
    const earliest = latest - ttl * (SPREAD + STEP);
    let bundle = this.#open.get(ttl);
    if (!bundle || bundle.due > latest || bundle.due < earliest) bundle = this.#begin(ttl, latest);
    bundle.add(entry);
    if (bundle.entries.length === MOST_IN_BUNDLE) this.#open.delete(ttl);
  }

  /** Safe to call for a lease that is in no bundle. */
  leave(entry: Entry): void {
    const bundle = entry.bundle as LeaseBundle<Entry> | undefined;
    if (!bundle) return;
    bundle.remove(entry);
    if (bundle.entries.length > 0) return;
    this.#timers.remove(bundle);
    this.#close(bundle);
  }

  #begin(ttl: number, latest: number): LeaseBundle<Entry> {
    const step = ttl * STEP;
    this.#place = (this.#place + EVENLY) % 1;
    const due = Math.floor((latest - this.#place * ttl * SPREAD) / step) * step;
    const bundle: LeaseBundle<Entry> = new LeaseBundle(ttl, due, () => this.#fall(bundle));
    this.#open.set(ttl, bundle);
    this.#timers.move(bundle, due);
    return bundle;
  }

  #fall(bundle: LeaseBundle<Entry>): void {
    this.#close(bundle);
    const { entries, ttl } = bundle;
    for (const entry of entries) entry.bundle = undefined;
    this.#wake(entries, ttl);
  }

  #close(bundle: LeaseBundle<Entry>): void {
    if (this.#open.get(bundle.ttl) === bundle) this.#open.delete(bundle.ttl);
  }
}
