import type { Clock } from '../core/async/clock.js';
import { LockTimeoutError } from '../core/contract/lock-errors.js';
import { keyNames } from '../core/keys/lock-keys.js';
import type {
  AcquireRequest,
  Lease,
  LockInspection,
  LockListQuery,
  LockPage,
  LockStoreFeatures,
} from '../core/contract/lock-store.js';
import { MemoryLockStore } from '../stores/memory/memory-lock.store.js';
import type { Commands } from './commands.js';
import { withCommanded } from './commanded-locks.js';
import { ControlledLease } from './controlled-lease.js';

/**
 * Locks in memory that do as a test commands. Every caller waits in its own queue, also the callers of one process, so that it
 * knows them all, and a free key goes to the next one without a pause.
 */
export class ControlledLockStore extends MemoryLockStore {
  override readonly name: string = 'testing';
  override readonly supports: LockStoreFeatures = {
    fencing: true,
    ttl: true,
    manyKeys: true,
    queuesAllCallers: true,
    readLocks: true,
    semaphores: true,
  };
  readonly #commands: Commands;
  readonly #changed: () => void;
  /** By key. */
  readonly #leases = new Map<string, Set<ControlledLease>>();

  /** `changed` is called whenever a caller takes a key, or waits for one. */
  constructor(clock: Clock, commands: Commands, changed: () => void) {
    super(clock);
    this.#commands = commands;
    this.#changed = changed;
  }

  override acquire(request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    const waiting = super.acquire(request, signal);
    this.#changed();
    return waiting;
  }

  override async inspect(key: string): Promise<LockInspection | undefined> {
    this.#commands.throwIfFailing([key]);
    const isTaken = this.#commands.obstacle([key]) !== undefined;
    return (await super.inspect(key)) ?? (isTaken ? commanded(key) : undefined);
  }

  /** Those that a command holds come first. */
  override async list(query: LockListQuery): Promise<LockPage> {
    this.#commands.throwIfAllFail();
    const held = new Set(this.held());
    const taken = this.#commands.taken().filter((key) => !held.has(key));
    return withCommanded(query, taken.map(commanded), (rest) => super.list(rest));
  }

  /** How many callers wait for the key, or for any. */
  waiters(key?: string): number {
    return this.queue.count(key);
  }

  /** The commands have changed. */
  obey(): void {
    this.queue.stir();
  }

  /** Takes the key, or every one, from its holder. `false`: it was free. */
  lose(key?: string): boolean {
    const keys = key === undefined ? this.held() : [key];
    const held = new Set(keys.flatMap((each) => [...(this.#leases.get(each) ?? [])]));
    for (const lease of held) lease.lose();
    return held.size > 0;
  }

  protected override grant(request: AcquireRequest): Lease | undefined {
    const { keys } = request;
    this.#commands.throwIfFailing(keys);
    const lease = this.#commands.obstacle(keys) ? undefined : super.grant(request);
    if (!lease) return undefined;
    const controlled = new ControlledLease(lease, keys, this.#commands);
    for (const key of keys)
      this.#leases.set(key, (this.#leases.get(key) ?? new Set()).add(controlled));
    if (this.#commands.takeDoom(keys)) controlled.lose();
    this.#changed();
    return controlled;
  }

  protected override freed(keys: readonly string[]): void {
    const stillHeld = this.held(); // by other sharers
    for (const key of keys) if (!stillHeld.includes(key)) this.#leases.delete(key);
    super.freed(keys);
  }

  protected override grantQueued(request: AcquireRequest): Lease | undefined {
    const { keys } = request;
    if (this.#commands.obstacle(keys)?.kind === 'busy')
      throw new LockTimeoutError(keyNames(keys), 0);
    return this.grant(request);
  }
}

function commanded(key: string): LockInspection {
  return { key, holder: 'LockControl' };
}
