import type { LockInspection } from '../../core/contract/lock-store.js';
import { holdModeOf, isReader } from '../../core/sharing/hold-mode.js';
import type { HeldLock } from '../../core/inspection/held-locks.js';
import type { WaitingCall } from '../../core/inspection/waiting-calls.js';
import type { LockRow, Process } from '../api.js';
import { processOf } from './process-text.js';
import { waitersOf } from './waiting-line.js';

/** The most urgent first. */
const URGENCY: readonly LockRow['state'][] = ['jeopardy', 'overdue', 'held'];

/** One held key, as the store and the services of this process tell it. */
export class SampledLock {
  readonly key: string;
  /** The store's answer. Missing: it was not read, or the lock is newer than the answer. */
  inspection: LockInspection | undefined;
  /** Locks of this process on the key: several of sharers. */
  readonly held: HeldLock[] = [];
  /** Calls of this process that wait for the key. */
  readonly waiting: WaitingCall[] = [];
  #text: string | undefined;

  constructor(key: string, inspection?: LockInspection) {
    this.key = key;
    this.inspection = inspection;
  }

  get name(): string | undefined {
    return (this.held[0] ?? this.waiting[0])?.name;
  }

  get state(): LockRow['state'] {
    const states = this.held.map(stateOf);
    return URGENCY.find((state) => states.includes(state)) ?? 'held';
  }

  get heldFor(): number | undefined {
    if (this.held.length === 0) return this.inspection?.heldFor;
    return Math.max(...this.held.map(({ heldFor }) => heldFor));
  }

  /** For the search, in lower case. */
  get text(): string {
    const texts = [this.key, this.name ?? '', ...this.#holders('')];
    return (this.#text ??= texts.join('\n').toLowerCase());
  }

  /** `reader` is this process. The row names at most `mostWaiters`. */
  row(reader: string, mostWaiters: number): LockRow {
    const permits = (this.held[0] ?? this.inspection)?.permits;
    const { waiterCount, waiters } = waitersOf(this, reader, mostWaiters);
    return {
      key: this.key,
      name: this.name,
      mode: holdModeOf(permits),
      permits: isReader(permits) ? 'unlimited' : permits,
      holders: this.#holders(reader).map(processOf),
      state: this.state,
      isLocal: this.held.length > 0,
      heldFor: whole(this.heldFor),
      remaining: whole(this.#remaining),
      fencingToken: this.#fencingToken(reader)?.toString(),
      waiterCount,
      waiters: waiters.map((text): Process => processOf(text)),
    };
  }

  get #remaining(): number | undefined {
    if (this.held.length === 0) return this.inspection?.remaining;
    return Math.max(...this.held.map((lock) => lock.remaining));
  }

  #holders(reader: string): readonly string[] {
    const { holder, holders } = this.inspection ?? {};
    return holders ?? (holder === undefined ? this.held.map(() => reader) : [holder]);
  }

  /** That of the holder in the store, which is the one that can be evicted. */
  #fencingToken(reader: string): bigint | undefined {
    const isOurs = this.#holders(reader).includes(reader);
    const own = isOurs ? this.held[0]?.fencingToken : undefined;
    return own ?? this.inspection?.fencingToken;
  }
}

/** The most urgent first, then what is held longest. */
export function byUrgency(locks: readonly SampledLock[]): SampledLock[] {
  const ranked = locks.map((lock) => ({
    lock,
    urgency: URGENCY.indexOf(lock.state),
    age: lock.heldFor ?? -1,
  }));
  ranked.sort((one, other) => one.urgency - other.urgency || other.age - one.age);
  return ranked.map(({ lock }) => lock);
}

function stateOf({ state, overdue }: HeldLock): LockRow['state'] {
  return state === 'held' && overdue ? 'overdue' : state;
}

/** JSON has no `Infinity`. */
function whole(ms: number | undefined): number | undefined {
  return Number.isFinite(ms) ? Math.floor(ms!) : undefined;
}
