import { checkAttempt, giveBack, whyUseless } from '../store/grant.js';
import type { Grant } from '../store/grant.js';
import { requestFor } from '../store/acquire-request.js';
import type { Asked, PastAttempt } from '../store/acquire-request.js';
import { BoundedCall, callLimit } from '../store/bounded-call.js';
import { tryAcquireAll } from '../store/many-keys.js';
import type { AcquireRequest, Lease } from '../contract/lock-store.js';
import type { HeldLease } from '../lease/held-lease.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import type { LocalCaller, LocalTicket } from '../queue/local-ticket.js';
import type { AcquisitionContext } from './acquisition-context.js';
import type { Begun } from './acquire-trace.js';
import type { Nesting } from './attempt-errors.js';
import type { StoreAttempts } from './store-attempts.js';
import type { WaitDeadline } from './wait-deadline.js';

/**
 * Turns a held lease into the caller's result. Called in the event-loop turn in which the grant arrived: on the path of every lock,
 * each promise in between counts.
 */
export type Use<Result> = (held: HeldLease) => Result | Promise<Result>;

/** How an acquisition goes, and what becomes of it. */
export interface Call<Result> {
  readonly use: Use<Result>;
  /** One attempt, which resolves `undefined` when the key is held. */
  readonly isOnce?: boolean;
  readonly nesting?: Nesting | undefined;
  /** Is called as soon as it has begun. */
  readonly begun?: Begun;
}

/** Is told how a caller ends. */
export interface CallerOwner {
  granted(caller: FirstAttempt, grant: Grant): unknown;
  failed(caller: FirstAttempt, error: unknown): void;
}

/**
 * A caller, and its first attempt, which is a call to the store. Most need no more. The class on top of it has methods only, and
 * makes a ticket for a caller that has to wait.
 */
export abstract class FirstAttempt
  extends BoundedCall<Lease | undefined, unknown>
  implements LocalCaller, Asked, PastAttempt
{
  readonly keys: readonly string[];
  readonly ttl: number;
  readonly permits: number | undefined;
  readonly autoExtend: boolean;
  readonly options: ResolvedLockOptions;
  /** `false`: one attempt. */
  readonly mayWait: boolean;
  override readonly signal: AbortSignal | undefined;
  readonly check = checkAttempt;
  override readonly late = giveBack;
  /** When the call began. */
  readonly since: number;
  request!: AcquireRequest;
  sentAt = 0;
  within = 0;
  isGone = false;
  refusedBy: string | undefined;
  before: this | undefined;
  behind: this | undefined;
  readonly use: Use<unknown>;
  /** The service ended it. */
  isStopped = false;
  /** It was refused at first, and counts as a waiter. */
  isInWait = false;
  protected readonly context: AcquisitionContext;
  protected readonly owner: CallerOwner;
  readonly nesting: Nesting | undefined;
  protected hasAsked = false;
  protected readonly isOnce: boolean;
  protected isWaiting = false;
  protected madeTicket: LocalTicket | undefined;
  protected madeAttempts: StoreAttempts | undefined;
  protected madeWaitDeadline: WaitDeadline | undefined;

  constructor(
    context: AcquisitionContext,
    keys: readonly string[],
    options: ResolvedLockOptions,
    owner: CallerOwner,
    { use, isOnce = false, nesting }: Call<unknown>,
  ) {
    super();
    this.owner = owner;
    this.use = use;
    this.isOnce = isOnce;
    this.nesting = nesting;
    this.context = context;
    this.keys = keys;
    this.options = options;
    this.ttl = Math.min(options.ttl, options.maxHold);
    this.permits = options.permits;
    this.autoExtend = options.autoExtend;
    this.signal = options.signal;
    this.mayWait = options.waitTimeout > 0;
    this.since = context.clock.now();
  }

  /** Settles as `PendingAcquisitions.acquire` does. */
  start(): Promise<unknown> {
    const { queue, calls } = this.context;
    const { isOnce } = this;
    if (queue.enter(this.keys, this.permits, isOnce || !this.mayWait)) return this.send(calls);
    return isOnce ? this.refusedInQueue() : this.waitInQueue();
  }

  ask(): Promise<Lease | undefined> {
    const { store, clock } = this.context;
    const { storeTimeout, waitTimeout, minHold } = this.options;
    this.hasAsked = true;
    this.request = requestFor(this, storeTimeout);
    this.sentAt = clock.now();
    this.within = callLimit(this.options, waitTimeout);
    // One attempt does not wait for a connection that its client makes again and again. That of a tick does: it is not asked for again.
    const isHasty = waitTimeout === 0 && minHold === 0;
    const failure = isHasty ? store.connectionFailure?.(false) : undefined;
    if (failure !== undefined) throw failure;
    if (this.keys.length === 1) return store.tryAcquire(this.request);
    return tryAcquireAll(store, this.request, this, this);
  }

  read(lease: Lease | undefined): unknown {
    const { store, clock, queue } = this.context;
    if (queue.mayHaveFailed) queue.answered(this.keys);
    if (!lease) return this.refused(lease);
    const grant = { lease, sentAt: this.sentAt };
    const ttl = store.supports.ttl ? this.ttl : undefined;
    const why = whyUseless(grant, clock.now(), ttl, this.options);
    return why === undefined ? this.owner.granted(this, grant) : this.refused(lease);
  }

  /** Other callers of this process are first. */
  protected abstract refusedInQueue(): Promise<undefined>;
  protected abstract waitInQueue(): Promise<unknown>;

  /** Another caller has the keys, or the lease came too late for use. */
  protected abstract refused(lease: Lease | undefined): unknown;
}
