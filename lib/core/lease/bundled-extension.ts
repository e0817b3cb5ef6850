import { checkExceptions } from '../contract/store-answers.js';
import { UnknownAnswerError } from '../contract/unknown-answer.js';
import type { HeldLease } from './held-lease.js';
import type { Lease, LockStore } from '../contract/lock-store.js';
import type { StoreCall } from '../store/bounded-call.js';
import type { StoreCalls } from '../store/store-call.js';

/** A store's answer for many leases: those that were not extended, with the reason. */
type Exceptions = ReadonlyMap<Lease, unknown>;
/** `true`: it is ours. `false`: it is not. Anything else: the reason why that is unknown. */
type Answered = (lease: HeldLease, answer: unknown) => void;

/** One request to the store, with one deadline and one answer, for leases that are extended together. */
export class BundledExtension implements StoreCall<Exceptions, void> {
  readonly check = checkExceptions;
  readonly within: number;
  readonly #store: LockStore;
  readonly #leases: readonly HeldLease[];
  readonly #ttl: number;
  readonly #sentAt: number;
  readonly #answered: Answered;
  #made: Promise<void> | undefined;

  /** For leases that `mayBeBundled`. `answered` is called for each of them, once. */
  constructor(
    store: LockStore,
    leases: readonly HeldLease[],
    ttl: number,
    sentAt: number,
    answered: Answered,
  ) {
    this.#store = store;
    this.#leases = leases;
    this.#ttl = ttl;
    this.#sentAt = sentAt;
    this.#answered = answered;
    this.within = leases.reduce(
      (least, { options, until }) => Math.min(least, options.storeTimeout, until - sentAt),
      ttl / 3,
    );
  }

  send(calls: StoreCalls): void {
    const made = calls.make(this);
    this.#made = made;
    for (const { changes } of this.#leases) {
      changes.sent(this.#sentAt, this.#ttl);
      changes.begin(made);
    }
  }

  ask(): Promise<Exceptions> {
    const granted = this.#leases.map((lease) => lease.granted);
    return this.#store.extendMany!(granted, this.#ttl);
  }

  read(exceptions: Exceptions): void {
    const isWhole = exceptions.size === 0;
    this.#settle(
      ({ granted }) => isWhole || !exceptions.has(granted) || failed(exceptions, granted),
    );
  }

  recover(error: unknown): void {
    this.#settle(() => error);
  }

  late(exceptions: unknown): void {
    if (!(exceptions instanceof Map)) return;
    for (const { changes, granted } of this.#leases)
      changes.answeredLate(this.#sentAt, this.#ttl, !exceptions.has(granted) || failed(exceptions, granted)); // prettier-ignore
  }

  #settle(answerOf: (lease: HeldLease) => unknown): void {
    for (const lease of this.#leases) {
      lease.changes.end(this.#made!);
      this.#answered(lease, answerOf(lease));
    }
  }
}

/** `false`, or an error. */
function failed(exceptions: Exceptions, lease: Lease): unknown {
  const answer = exceptions.get(lease);
  return answer === true ? new UnknownAnswerError('false or an error', answer) : answer;
}
