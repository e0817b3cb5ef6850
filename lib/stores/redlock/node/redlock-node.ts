import { reasonOf } from '../../../core/contract/safe-error.js';
import type { Clock } from '../../../core/async/clock.js';
import type { LockNode, LockStore, NodeNotice } from '../../../core/contract/lock-store.js';

/** Consecutive votes settled by others in which this node did not answer in time. After so many it is not asked for a while. */
const MOST_MISSES = 3;
/** Milliseconds until one call checks whether it answers again; doubled each time that it does not. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 2_000;
/** Maximum number of pending calls to a node that is behind: each costs memory until its answer comes. */
const MOST_OPEN = 1_000;

/** The record of the server behind a node. */
export interface ServerRecord {
  /** The server at the end of the current connection has been read. */
  readonly isKnown: boolean;
  /** Why the node has no vote, or `undefined`. */
  readonly bar: string | undefined;
}

type Tell = (notice: NodeNotice) => void;

/** One member of the quorum: whether it is asked, and whether its answer counts. */
export class RedlockNode {
  readonly name: string;
  readonly store: LockStore;
  /** Set when there is a server behind it, whose restarts matter. */
  record: ServerRecord | undefined;
  readonly #clock: Clock;
  readonly #tell: Tell;
  readonly #onUnfit = new Set<() => void>();
  #open = 0;
  #misses = 0;
  #isBehind = false;
  #isProbed = false;
  #pause = FIRST_PAUSE;
  #askAgainAt = 0;

  constructor(name: string, store: LockStore, clock: Clock, tell: Tell) {
    this.name = name;
    this.store = store;
    this.#clock = clock;
    this.#tell = tell;
  }

  /** Changes when the connection is lost: an answer may then come from another server than the one that was asked. */
  get losses(): number {
    return this.store.server?.losses ?? 0;
  }

  /** Why it should not be asked now, or `undefined`. */
  get unreachable(): string | undefined {
    if (this.store.server?.isReady === false) return notConnected(this.store);
    if (!this.isSuspended) return this.overloaded;
    const rest = this.#askAgainAt - this.#clock.now();
    return rest > 0 ? `suspended for ${Math.ceil(rest)} ms (it does not answer)` : this.overloaded;
  }

  /** Why nothing more can be sent there, not even to be delivered later, or `undefined`. */
  get overloaded(): string | undefined {
    if (!this.#isBehind || this.#open < MOST_OPEN) return undefined;
    return `timeout (${this.#open} calls are open)`;
  }

  /** Why its answer would not count, or `undefined`. */
  get barred(): string | undefined {
    return this.record?.bar;
  }

  get state(): LockNode['state'] {
    if (this.store.server?.isReady === false) return 'disconnected';
    if (this.isSuspended) return 'suspended';
    return this.barred === undefined ? 'up' : 'quarantined';
  }

  /** Whether callers may queue at it. */
  get isFit(): boolean {
    return this.state === 'up';
  }

  get isSuspended(): boolean {
    return this.#misses >= MOST_MISSES;
  }

  /** Calls `listener` when it stops being fit. Calling the result stops that. */
  whenUnfit(listener: () => void): () => void {
    this.#onUnfit.add(listener);
    return () => this.#onUnfit.delete(listener);
  }

  /** After a pause, one call checks whether it answers. The others wait for the outcome. */
  asked(): void {
    this.#open++;
    if (!this.isSuspended) return;
    this.#isProbed = true;
    this.#askAgainAt = this.#clock.now() + this.#pause;
  }

  /** An answer came, even if an error. A late one says that the node lives, but not that it is of use. */
  answered(isInTime: boolean): void {
    this.#open--;
    this.#isBehind = false;
    if (!isInTime) return;
    const wasSuspended = this.isSuspended;
    this.#misses = 0;
    this.#isProbed = false;
    this.#pause = FIRST_PAUSE;
    if (wasSuspended) this.tell('recovered', 'it answers again');
  }

  /** It did not answer in time. That counts against this node only if others answered. */
  missed(othersAnswered: boolean, why = `it did not answer ${MOST_MISSES} times in a row`): void {
    this.#isBehind = true;
    if (!othersAnswered) return;
    if (this.isSuspended && !this.#isProbed) return;
    if (this.#isProbed) this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    this.#isProbed = false;
    this.#misses++;
    this.#askAgainAt = this.#clock.now() + this.#pause;
    if (this.#misses === MOST_MISSES) this.tell('suspended', why);
  }

  /** It has been silent for so long that it hangs, whatever others did. */
  silent(why: string): void {
    while (!this.isSuspended) this.missed(true, why);
  }

  tell(state: NodeNotice['state'], reason: string): void {
    this.#tell({ type: 'node', node: this.name, state, reason });
    if (state !== 'recovered') this.unfit();
  }

  /** Its waiters look for another node. */
  unfit(): void {
    this.#onUnfit.forEach((listener) => listener());
  }
}

/** Makes a store a node, under the address of its server if it has one. */
export function joinedNode(store: LockStore, index: number, clock: Clock, tell: Tell): RedlockNode {
  store.joinQuorum?.();
  const { address = `${store.name} ${index + 1}` } = store.server ?? {};
  return new RedlockNode(address, store, clock, tell);
}

function notConnected(store: LockStore): string {
  const why = store.connectionFailure?.(false);
  return `refused (not connected${why === undefined ? '' : `: ${reasonOf(why)}`})`;
}
