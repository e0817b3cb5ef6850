import type { Clock } from '../../core/async/clock.js';
import type { AcquireRequest, Lease, LockStore } from '../../core/contract/lock-store.js';
import { checkAttempt, giveBack } from '../../core/store/grant.js';
import { promiseTry } from '../../core/store/store-call.js';
import type { FencingNumbers } from '../plan/fencing-numbers.js';
import { DualLease } from './dual-lease.js';
import { PairRequests } from './pair-requests.js';
import type { PairRequest } from './pair-requests.js';
import { SessionEnds } from './session-ends.js';

export interface DualContext {
  readonly from: LockStore;
  readonly to: LockStore;
  readonly numbers: FencingNumbers;
  readonly clock: Clock;
}

/** A grant of `from`, with the clock's reading from before it was asked for. */
export interface FromGrant {
  readonly lease: Lease;
  readonly sentAt: number;
}

/** Asks `to` for what `from` has granted. */
export type AskTo = (pair: PairRequest) => Promise<Lease | undefined>;

/** Attempts at both stores, `from` first in every process: no two wait for each other. */
export class DualAttempts {
  readonly pairs = new PairRequests();
  readonly #context: DualContext;
  readonly #ends: SessionEnds;
  /** Of requests for several keys, the one that another caller had. */
  readonly #refusals = new WeakMap<AcquireRequest, string | undefined>();

  constructor(context: DualContext) {
    this.#context = context;
    this.#ends = new SessionEnds(context.clock);
  }

  refusedKey(request: AcquireRequest): string | undefined {
    return this.#refusals.get(request);
  }

  async once(request: AcquireRequest): Promise<Lease | undefined> {
    const { from, to, clock } = this.#context;
    const sentAt = clock.now();
    const pair = this.pairs.of(request);
    const lease = await attempt(from, pair.from);
    if (lease) return this.both(request, { lease, sentAt }, (asked) => attempt(to, asked.toWithFloor)); // prettier-ignore
    this.#refusals.set(request, from.refusedKey?.(pair.from));
    return undefined;
  }

  /** The lease of both stores. `from` is given back when `to` refuses, or fails. */
  async both(request: AcquireRequest, grant: FromGrant, askTo: AskTo): Promise<Lease | undefined> {
    const { numbers, to } = this.#context;
    const pair = this.pairs.of(request);
    const { lease } = grant;
    try {
      const floor = numbers.floorOf(lease.fencingToken);
      if (floor !== undefined) pair.toWithFloor.fencingFloor = floor;
      const other = await askTo(pair);
      if (other) return await this.#granted(pair, grant, other);
      this.#refusals.set(request, to.refusedKey?.(pair.toWithFloor));
    } catch (error) {
      await this.#giveBack(request, lease);
      this.pairs.renew(request);
      throw error;
    }
    await this.#giveBack(request, lease);
    return undefined;
  }

  /** Every later token of `from`, too, is to be larger. */
  async #granted(pair: PairRequest, grant: FromGrant, to: Lease): Promise<Lease | undefined> {
    const { numbers, from: store, clock } = this.#context;
    const { fencingToken } = grant.lease;
    const token = numbers.tokenOf(fencingToken, to.fencingToken);
    let from: Lease | undefined = grant.lease;
    try {
      if (numbers.isAhead(token, fencingToken))
        from = await attempt(store, { ...pair.from, fencingFloor: token });
    } catch (error) {
      giveBack(to);
      throw error;
    }
    if (!from) giveBack(to); // it was lost meanwhile
    const leases = from && { from, to, bySession: this.#bySession(from, to) };
    const request = pair.from;
    return leases && new DualLease({ request, fencingToken: token, ...leases }, clock, this.#ends, grant.sentAt); // prettier-ignore
  }

  #bySession(from: Lease, to: Lease): Lease | undefined {
    const { from: one, to: other } = this.#context;
    if (one.supports.ttl === other.supports.ttl) return undefined;
    return one.supports.ttl ? to : from;
  }

  /** Never rejects. */
  async #giveBack(request: AcquireRequest, lease: Lease): Promise<void> {
    await promiseTry(() => lease.release()).catch(() => this.pairs.renew(request));
  }
}

/** One attempt. Throws for an answer that is neither a lease nor `undefined`. */
export async function attempt(
  store: LockStore,
  request: AcquireRequest,
): Promise<Lease | undefined> {
  const lease = await store.tryAcquire(request);
  checkAttempt(lease);
  return lease;
}
