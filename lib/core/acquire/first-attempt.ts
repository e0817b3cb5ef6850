import { checkAttempt, giveBack, whyUseless } from '../store/grant.js';
import type { Grant } from '../store/grant.js';
import { requestFor } from '../store/acquire-request.js';
import type { Asked, PastAttempt } from '../store/acquire-request.js';
import { BoundedCall } from '../store/bounded-call.js';
import { tryAcquireAll } from '../store/many-keys.js';
import type { AcquireRequest, Lease } from '../contract/lock-store.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import { LocalTicket } from '../queue/local-ticket.js';
import type { AcquisitionContext } from './acquisition-context.js';
import type { Explain } from './attempt-errors.js';
import type { StoreAttempts } from './store-attempts.js';
import { callLimit } from './wait-deadline.js';
import type { WaitDeadline } from './wait-deadline.js';

/**
 * Turns a grant into the caller's result. Called in the event-loop turn in which the grant arrived, without a promise in
 * between.
 */
export type Keep<Result> = (grant: Grant) => Result | Promise<Result>;

/** Is told of a caller that ends without a grant. */
export interface CallerOwner {
  failed(caller: FirstAttempt, error: unknown): void;
}

/**
 * A caller: its ticket in the queue of its process, and its first attempt, which is a call to the store. Most need no more. The
 * class on top of it has methods only.
 */
export abstract class FirstAttempt
  extends BoundedCall<Lease | undefined, unknown>
  implements Asked, PastAttempt
{
  readonly ticket: LocalTicket;
  readonly options: ResolvedLockOptions;
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
  /** The service ended it. */
  isStopped = false;
  /** It was refused at first, and counts as a waiter. */
  isInWait = false;
  protected readonly context: AcquisitionContext;
  protected readonly owner: CallerOwner;
  protected readonly explain: Explain | undefined;
  protected isOnce = false;
  protected isWaiting = false;
  protected madeAttempts: StoreAttempts | undefined;
  protected madePatience: WaitDeadline | undefined;
  /** Missing while it has not been made. */
  protected keep: Keep<unknown> | undefined;

  constructor(
    context: AcquisitionContext,
    keys: readonly string[],
    options: ResolvedLockOptions,
    owner: CallerOwner,
    explain?: Explain,
  ) {
    super();
    this.owner = owner;
    this.explain = explain;
    this.context = context;
    this.options = options;
    this.signal = options.signal;
    this.since = context.clock.now();
    const ttl = Math.min(options.ttl, options.maxHold);
    this.ticket = new LocalTicket(context.queue, keys, ttl, options);
  }

  ask(): Promise<Lease | undefined> {
    const { store, clock } = this.context;
    this.request = requestFor(this.ticket, this.options.storeTimeout);
    this.sentAt = clock.now();
    this.within = callLimit(this.options, this.options.waitTimeout);
    this.#refuseUnconnected();
    return tryAcquireAll(store, this.request, this, this);
  }

  /**
   * One attempt does not wait for a connection that its client makes again and again. That of a tick (`minHold`) does: it is not asked for
   * again.
   */
  #refuseUnconnected(): void {
    const { waitTimeout, minHold } = this.options;
    if (waitTimeout > 0 || minHold > 0) return;
    const failure = this.context.store.connectionFailure?.(false);
    if (failure !== undefined) throw failure;
  }

  read(lease: Lease | undefined): unknown {
    this.context.queue.answered(this.ticket.keys);
    if (!lease) return this.refused(lease);
    const { store, clock } = this.context;
    const grant = { lease, sentAt: this.sentAt };
    const ttl = store.supports.ttl ? this.ticket.ttl : undefined;
    const why = whyUseless(grant, clock.now(), ttl, this.options);
    return why === undefined ? this.keep!(grant) : this.refused(lease);
  }

  /** Another caller has the keys, or the lease came too late for use. */
  protected abstract refused(lease: Lease | undefined): unknown;
}
