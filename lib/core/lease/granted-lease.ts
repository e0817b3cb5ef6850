import { monotonicTime } from '../async/clock.js';
import { checkBoolean } from '../contract/store-answers.js';
import type { Lease, StoreRevocation } from '../contract/lock-store.js';
import type { LockEvent, LockHoldEvent, LockState } from '../events/hold-events.js';
import { holdModeOf, isReader, isShared } from '../sharing/hold-mode.js';
import type { AroundWork, HoldProgress, LockHoldTrace } from '../events/tracing.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import { BoundedCall } from '../store/bounded-call.js';
import type { QueuedTimer } from '../async/timer-queue.js';
import type { LocalCaller } from '../queue/local-ticket.js';
import type { Grant } from '../store/grant.js';
import type { LeaseExtensions } from './lease-extension.js';
import type { LossSignal } from './loss-signal.js';
import type { KeeperEntry, LeaseContext } from './lease-context.js';

/** The caller that got a grant. */
export interface GrantedCaller extends LocalCaller {
  readonly options: ResolvedLockOptions;
}

/**
 * All that is known of a lease: the grant with its time and its caller, its validity, its state, its entry with the keeper, and the
 * call that returns it. One object, as one function more costs a lock more than a field (`bench/steps.mjs`). The classes on top of it have methods only.
 */
export abstract class GrantedLease extends BoundedCall<boolean, boolean> implements KeeperEntry {
  before: this | undefined;
  behind: this | undefined;
  isKept = false;
  extendAt = Infinity;
  extensions = 0;
  bundle: object | undefined;
  place = -1;
  /** Milliseconds for the answer to its return. */
  readonly within: number;
  readonly check = checkBoolean;
  readonly keys: readonly string[];
  readonly options: ResolvedLockOptions;
  /** The ttl of the next extension. */
  ttl: number;
  /** Send time of the request that the ttl counts from. */
  countedFrom: number;
  /** The end by the ttl, or by `maxHold`. */
  until: number;
  /** By the monotonic clock: `minHold` must not end too early. */
  readonly grantedAt: number;
  /** Maximum number of holders. Missing: exclusive. */
  permits: number | undefined;
  /** The store says so. */
  isReader: boolean;
  /** The store's grant. */
  readonly granted: Lease;
  readonly context: LeaseContext;
  /** Number of calls that use it: the one that took it, and those nested in it. */
  uses = 0;
  /** Missing where it may be held for any time. */
  overdueWatch: (QueuedTimer & { readonly at: number; readonly isOverdue: boolean }) | undefined;
  #traced: LockHoldTrace | undefined;
  /** Of its trace, if it has a subscriber. */
  progress: HoldProgress | undefined;
  protected current: LockState = 'held';
  /** Held, or in jeopardy. */
  protected isActive = true;
  /** Created on first use: most locks are neither lost nor watched. */
  protected madeLoss: LossSignal | undefined;
  /** Created on first use: most locks are released before their first change. */
  protected madeChanges: LeaseExtensions | undefined;
  protected unwatch: (() => void) | undefined;
  /** The end by `maxHold`. Counts from the request, or from the hand-off by the holder before. */
  protected readonly holdUntil: number;
  /** Its caller is at the front of the queues of its process. */
  protected isAtFront = true;
  /** It stays there until the store has answered its release. */
  protected keepsFront = false;
  /** Its holder was asked to stop, and its keys stay taken meanwhile. */
  protected isRetired = false;
  protected released: Promise<boolean> | undefined;

  constructor(
    { lease, sentAt, heldFrom = sentAt }: Grant,
    { keys, ttl, permits, options }: GrantedCaller,
    context: LeaseContext,
  ) {
    super();
    this.within = options.storeTimeout;
    this.keys = keys;
    this.permits = permits;
    this.isReader = isShared(permits) && isReader(permits);
    this.options = options;
    this.granted = lease;
    this.context = context;
    this.grantedAt = monotonicTime(context.clock);
    this.holdUntil = heldFrom + options.maxHold;
    this.ttl = ttl;
    this.countedFrom = sentAt;
    this.until = this.untilFor(sentAt, ttl);
  }

  /** The end of the validity that counts from a request for `ttl`, sent at `sentAt`. */
  abstract untilFor(sentAt: number, ttl: number): number;

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

  /** One object for this lease, by which subscribers and `aroundWork` know it. */
  get traced(): LockHoldTrace {
    return (this.#traced ??= { ...this.event(), events: this.context.events });
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
    jeopardy: (error) => (one.jeopardy(error), other.jeopardy(error)),
    released: () => (one.released(), other.released()),
    lost: (error) => (one.lost(error), other.lost(error)),
  };
}
