import { systemClock } from '../core/async/clock.js';
import type { Clock } from '../core/async/clock.js';
import { canonicalKeys } from '../core/keys/lock-keys.js';
import { aClock, checkOptions } from '../core/options/option-rules.js';
import type { LockStore } from '../core/contract/lock-store.js';
import { Commands } from './commands.js';
import type { Command } from './commands.js';
import { ControlledLockStore } from './controlled-lock.store.js';
import { Moments } from './moments.js';

export interface LockControlOptions {
  /** A `FakeClock`, for tests that let ttls pass. Also that of the application, with `LockTestingModule`. */
  readonly clock?: Clock | undefined;
}

/** A command in force. */
export interface Commanded extends Disposable {
  /** Takes the command back. Safe to call twice. */
  release(): void;
}

/**
 * Locks in memory, for tests: really exclusive, and free, busy, lost or failing on command.
 *
 * ```ts
 * const control = new LockControl();
 * const locks = new LockService(control.store()); // with Nest: LockTestingModule.forRoot(control)
 * control.busy('order:42');
 * ```
 *
 * Keys are those of `lock.key`: rendered, `order:42`. Without a key, a command is for every key, and replaces those before it.
 * A wrong key throws `LockKeyError`.
 */
export class LockControl {
  /** Missing: each service has the one that its options say. */
  readonly clock: Clock | undefined;
  readonly #commands = new Commands();
  readonly #moments = new Moments();
  readonly #stores = new Map<string, ControlledLockStore>();

  /** Throws `TypeError` naming the option. */
  constructor(options: LockControlOptions = {}) {
    checkOptions('LockControl', options, { clock: aClock }, '{ clock: new FakeClock() }');
    this.clock = options.clock;
  }

  /**
   * The store of one instance, made when first asked for. Services of one store exclude each other, as processes do; those of
   * two do not. Commands are for all of them.
   */
  store(instance = 'default', clock: Clock = systemClock): LockStore {
    let store = this.#stores.get(instance);
    if (!store) {
      const look = () => this.#moments.look();
      store = new ControlledLockStore(this.clock ?? clock, this.#commands, look);
      this.#stores.set(instance, store);
    }
    return store;
  }

  /** Refuses the key to every caller, at once, whatever the `waitTimeout`: `LockTimeoutError`. A holder keeps it. */
  busy(key?: string): Commanded {
    return this.#give(key, { kind: 'busy' });
  }

  /** Holds the key as another process would: callers wait for its `release`, as long as their `waitTimeout` says. */
  hold(key?: string): Commanded {
    return this.#give(key, { kind: 'held' });
  }

  /** Lets every question about the key fail, extensions and releases included: `LockStoreError`, whose `cause` is `error`. */
  failing(key?: string, error: unknown = new Error('it fails on command')): Commanded {
    return this.#give(key, { kind: 'failing', error });
  }

  /**
   * Takes the key from its holder: `lock.signal` aborts, and its work rejects with `LockLostError`. Where it is free,
   * this happens once, to the next holder, when its work has begun.
   */
  lose(key?: string): void {
    checkKey(key);
    const wereHeld = [...this.#stores.values()].map((store) => store.lose(key));
    if (!wereHeld.includes(true)) this.#commands.doom(key);
  }

  /** Takes back what was commanded for the key, or everything. A holder keeps its key. */
  free(key?: string): void {
    checkKey(key);
    if (key === undefined) this.#commands.clear();
    else this.#commands.spare(key);
    this.#give(key, { kind: 'free' });
  }

  /** For `afterEach`: refuses callers that still wait, takes every lock from its holder, and takes back all commands. */
  reset(): void {
    this.busy();
    for (const store of this.#stores.values()) store.lose();
    this.free();
  }

  /** The held keys, in the order in which they were taken; not those of `hold` and `busy`. */
  held(): string[] {
    return [...this.#stores.values()].flatMap((store) => store.held());
  }

  /** How many callers wait for the key, or for any. */
  waiters(key?: string): number {
    let count = 0;
    for (const store of this.#stores.values()) count += store.waiters(key);
    return count;
  }

  /** Resolves when the key, or any, is held, and the work of its holder has begun. */
  untilHeld(key?: string): Promise<void> {
    checkKey(key);
    return this.#moments.until(() =>
      key === undefined ? this.held().length > 0 : this.held().includes(key),
    );
  }

  /** Resolves when so many callers wait for the key, or for any. */
  untilWaiting(key?: string, callers = 1): Promise<void> {
    checkKey(key);
    return this.#moments.until(() => this.waiters(key) >= callers);
  }

  #give(key: string | undefined, command: Command): Commanded {
    checkKey(key);
    this.#commands.give(key, command);
    this.#obey();
    const release = () => {
      this.#commands.takeBack(key, command);
      this.#obey();
    };
    return { release, [Symbol.dispose]: release };
  }

  #obey(): void {
    for (const store of this.#stores.values()) store.obey();
  }
}

function checkKey(key: string | undefined): void {
  if (key !== undefined) canonicalKeys([key]);
}
