import { setImmediate } from 'node:timers/promises';
import type { Lock } from 'nest-holdfast/core';
import { rejectionOf, watch } from '../../core/support/outcome';
import type { inMemory } from '../../core/support/setup';

const NAMES = ['order:<id>', 'report'] as const;
const ACQUIRE = 'holdfast_lock_acquire_duration_seconds';
const HOLD = 'holdfast_lock_hold_duration_seconds';

type Labels = Readonly<Record<string, string | undefined>>;

/** Calls for locks, one after the other, drawn by chance, and what their caller sees of them. */
export class DrawnHistory {
  readonly #setup: ReturnType<typeof inMemory>;
  readonly #random: () => number;
  readonly #series = new Map<string, number>();
  #keys = 0;

  /** `random`: from 0 to 1. */
  constructor(setup: ReturnType<typeof inMemory>, random: () => number) {
    this.#setup = setup;
    this.#random = random;
  }

  /** Calls and seconds, as a scrape shows them. */
  series(): Record<string, number> {
    return Object.fromEntries(this.#series);
  }

  async step(): Promise<void> {
    const steps = [
      () => this.#granted(),
      () => this.#permit(),
      () => this.#nested(),
      () => this.#afterAWait(),
      () => this.#refused(),
      () => this.#late(),
      () => this.#aborted(),
      () => this.#lost(),
    ];
    await this.#one(steps)();
  }

  async #granted(): Promise<void> {
    const { locks } = this.#setup;
    const [name, mode] = [this.#one(NAMES), this.#one(['write', 'read'] as const)];
    const lock = await locks.acquire(this.#key(), { name, mode });
    await this.#heldThenReleased(lock, { name, mode });
  }

  async #permit(): Promise<void> {
    const what = { name: this.#one(NAMES), mode: 'permits' };
    const held = this.#ms();
    await this.#setup.locks.withPermit(this.#key(), { name: what.name, permits: 2 }, () =>
      this.#setup.clock.advance(held),
    );
    this.#acquired({ ...what, outcome: 'granted' }, 0);
    this.#held({ ...what, end: 'released' }, held);
  }

  /** The nested call is none of its own. */
  async #nested(): Promise<void> {
    const { locks, clock } = this.#setup;
    const [key, held, what] = [this.#key(), this.#ms(), { mode: 'write' }];
    await locks.withLock(key, () =>
      locks.withLock(key, { name: 'nested', reentrant: true }, () => clock.advance(held)),
    );
    this.#acquired({ ...what, outcome: 'granted' }, 0);
    this.#held({ ...what, end: 'released' }, held);
  }

  async #afterAWait(): Promise<void> {
    const { locks, others, clock } = this.#setup;
    const [key, what] = [this.#key(), { name: this.#one(NAMES), mode: 'write' }];
    const blocking = await others.acquire(key);
    const since = clock.now();
    const waiting = locks.acquire(key, { name: what.name, waitTimeout: 60_000 });
    const waited = watch(waiting.then(() => clock.now() - since));
    await clock.advance(this.#ms());
    await blocking.release();
    while (waited.status === 'pending') {
      await clock.advance(1);
      await setImmediate();
    }
    this.#acquired({ ...what, outcome: 'granted' }, waited.value!);
    const held = clock.now() - since - waited.value!; // of the ticks after the grant
    await this.#heldThenReleased(await waiting, what, held);
  }

  async #refused(): Promise<void> {
    const { locks, others } = this.#setup;
    const [key, what] = [this.#key(), { name: this.#one(NAMES), mode: 'write' }];
    const blocking = await others.acquire(key);
    const once = this.#random() < 0.5;
    if (once) await locks.tryAcquire(key, { name: what.name });
    else await rejectionOf(locks.acquire(key, { name: what.name, waitTimeout: 0 }));
    this.#acquired({ ...what, outcome: 'busy', error: once ? undefined : 'LOCK_TIMEOUT' }, 0);
    await blocking.release();
  }

  async #late(): Promise<void> {
    const { locks, others, clock } = this.#setup;
    const [key, what] = [this.#key(), { name: this.#one(NAMES), mode: 'write' }];
    const blocking = await others.acquire(key);
    const waitTimeout = 1 + this.#ms();
    const late = rejectionOf(locks.acquire(key, { name: what.name, waitTimeout }));
    await clock.advance(waitTimeout);
    await late;
    this.#acquired({ ...what, outcome: 'busy', error: 'LOCK_TIMEOUT' }, waitTimeout);
    await blocking.release();
  }

  async #aborted(): Promise<void> {
    const { locks, others, clock } = this.#setup;
    const [key, what] = [this.#key(), { name: this.#one(NAMES), mode: 'write' }];
    const blocking = await others.acquire(key);
    const [abort, waited] = [new AbortController(), this.#ms()];
    const { signal } = abort;
    const aborted = rejectionOf(locks.acquire(key, { name: what.name, signal, waitTimeout: 60_000 })); // prettier-ignore
    await clock.advance(waited);
    abort.abort();
    await aborted;
    this.#acquired({ ...what, outcome: 'aborted', error: 'AbortError' }, waited);
    await blocking.release();
  }

  async #lost(): Promise<void> {
    const { locks, clock } = this.#setup;
    const what = { name: this.#one(NAMES), mode: 'write' };
    const maxHold = 100 + this.#ms();
    const lock = await locks.acquire(this.#key(), { name: what.name, maxHold });
    const since = clock.now();
    let held: number | undefined;
    lock.signal.addEventListener('abort', () => (held = clock.now() - since));
    await clock.advance(maxHold);
    this.#acquired({ ...what, outcome: 'granted' }, 0);
    this.#held({ ...what, end: 'lost', error: 'max-hold' }, held!);
    await lock.release();
  }

  async #heldThenReleased(
    lock: Lock,
    what: { name: string; mode: string },
    before?: number,
  ): Promise<void> {
    const held = this.#ms();
    await this.#setup.clock.advance(held);
    await lock.release();
    if (before === undefined) this.#acquired({ ...what, outcome: 'granted' }, 0);
    this.#held({ ...what, end: 'released' }, held + (before ?? 0));
  }

  #acquired({ outcome, ...what }: Labels, ms: number): void {
    this.#count(ACQUIRE, { ...what, outcome }, ms);
  }

  #held({ end, ...what }: Labels, ms: number): void {
    this.#count(HOLD, { ...what, end }, ms);
  }

  #count(metric: string, { error, outcome, end, mode, name }: Labels, ms: number): void {
    const labels = {
      error_type: error,
      holdfast_acquire_outcome: outcome,
      holdfast_hold_end: end,
      holdfast_lock_mode: mode,
      holdfast_lock_name: name,
      holdfast_store_name: 'memory',
    };
    const shown = Object.entries(labels).filter(([, value]) => value !== undefined);
    const braces = `{${shown.map(([label, value]) => `${label}="${value}"`).join(',')}}`;
    for (const [part, value] of [
      ['_count', 1],
      ['_sum', ms / 1_000],
    ] as const) {
      const series = metric + part + braces;
      this.#series.set(series, (this.#series.get(series) ?? 0) + value);
    }
  }

  #one<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)]!;
  }

  #ms(): number {
    return Math.floor(this.#random() * 2_000);
  }

  #key(): string {
    return `key:${this.#keys++}`;
  }
}
