import { monotonicTime } from '../async/clock.js';
import type { Lease, StoreRevocation } from '../contract/lock-store.js';
import type { LockEvent, LockHoldEvent } from '../events/hold-events.js';
import { holdModeOf } from '../sharing/hold-mode.js';
import { tracing } from '../events/tracing.js';
import type { AroundWork, HoldProgress, LockHoldTrace } from '../events/tracing.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import { KeeperEntry } from './keeper-entry.js';
import type { LeaseContext } from './lease-context.js';

/** What was granted to whom and when, as its events and its trace tell it. */
export abstract class GrantedLease extends KeeperEntry {
  readonly keys: readonly string[];
  readonly options: ResolvedLockOptions;
  /** By the monotonic clock: `minHold` must not end too early. */
  readonly grantedAt: number;
  /** Maximum number of holders. Missing: exclusive. */
  permits: number | undefined;
  /** The store's grant. */
  readonly granted: Lease;
  readonly context: LeaseContext;
  #traced: LockHoldTrace | undefined;
  protected progress: HoldProgress | undefined;

  constructor(
    lease: Lease,
    keys: readonly string[],
    options: ResolvedLockOptions,
    context: LeaseContext,
  ) {
    super();
    this.keys = keys;
    this.options = options;
    this.granted = lease;
    this.context = context;
    this.grantedAt = monotonicTime(context.clock);
  }

  get fencingToken(): bigint | undefined {
    return this.granted.fencingToken;
  }

  /** Milliseconds since the grant, at least. */
  get heldFor(): number {
    return monotonicTime(this.context.clock) - this.grantedAt;
  }

  /** Sharers have no token, and are not meant. */
  isMeantBy({ key, upTo }: StoreRevocation): boolean {
    const { fencingToken } = this;
    return fencingToken !== undefined && fencingToken <= upTo && this.keys.includes(key);
  }

  event(): LockEvent {
    const { keys, fencingToken, context } = this;
    const { name } = this.options;
    const mode = holdModeOf(this.permits);
    return { key: keys[0]!, keys, name, mode, store: context.store.name, fencingToken };
  }

  /** For an event after the grant. */
  holdEvent(): LockHoldEvent {
    return { ...this.event(), heldFor: this.heldFor };
  }

  /** One object for this lease: what subscribers and `aroundWork` know it by. */
  get traced(): LockHoldTrace {
    return (this.#traced ??= { ...this.event(), events: this.context.events });
  }

  /** Begins the trace of the hold, if it has a subscriber. */
  trace(): void {
    this.progress = tracing.hold(() => this.traced);
  }

  /** Begins the spans of its work, if a tracer wants them, and adds them to what is called around the work. */
  traceWork(inner: AroundWork | undefined): AroundWork | undefined {
    const work = this.context.tracing.work(() => this.traced);
    if (!work) return inner;
    this.progress = this.progress ? both(this.progress, work) : work;
    return work.enclose(inner);
  }
}

function both(one: HoldProgress, other: HoldProgress): HoldProgress {
  return {
    jeopardy(error) {
      one.jeopardy(error);
      other.jeopardy(error);
    },
    released() {
      one.released();
      other.released();
    },
    lost(error) {
      one.lost(error);
      other.lost(error);
    },
  };
}
