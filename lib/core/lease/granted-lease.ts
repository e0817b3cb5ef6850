import { monotonicTime } from '../async/clock.js';
import type { Lease } from '../contract/lock-store.js';
import type { LockEvent, LockHoldEvent } from '../events/hold-events.js';
import { holdModeOf } from '../events/hold-mode.js';
import { tracing } from '../events/tracing.js';
import type { HoldEnd, LockHoldTrace } from '../events/tracing.js';
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
  protected traceEnd: HoldEnd | undefined;

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
    return (this.#traced ??= this.event());
  }

  /** Begins the trace of the hold, if it has a subscriber. */
  trace(): void {
    this.traceEnd = tracing.hold(() => this.traced);
  }
}
