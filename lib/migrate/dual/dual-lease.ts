import type { Clock } from '../../core/async/clock.js';
import type { AcquireRequest, Lease } from '../../core/contract/lock-store.js';
import { checkBoolean } from '../../core/contract/store-answers.js';
import { giveBack } from '../../core/store/grant.js';
import { promiseTry } from '../../core/store/store-call.js';
import type { SessionEnds } from './session-ends.js';

/** The grants of both stores to one request. */
export interface DualGrant {
  readonly request: AcquireRequest;
  readonly from: Lease;
  readonly to: Lease;
  readonly fencingToken: bigint | undefined;
  /** The one that lives by a session, where the other has a ttl. */
  readonly bySession?: Lease | undefined;
}

/** Held while both stores keep it. */
export class DualLease implements Lease {
  readonly downgrade?: () => Promise<boolean>;
  readonly #grant: DualGrant;
  readonly #clock: Clock;
  readonly #ends: SessionEnds;
  readonly #lost: AbortSignal | undefined;
  #isReader = false;

  /** `sentAt`: when the first of the stores was asked. */
  constructor(grant: DualGrant, clock: Clock, ends: SessionEnds, sentAt: number) {
    this.#grant = grant;
    this.#clock = clock;
    this.#ends = ends;
    const signals = this.#signals;
    this.#lost = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
    if (grant.from.downgrade && grant.to.downgrade) this.downgrade = () => this.#downgrade();
    this.#endAfter(grant.request.ttl, sentAt);
  }

  get fencingToken(): bigint | undefined {
    return this.#isReader ? undefined : this.#grant.fencingToken;
  }

  /** A signal that is right before any timer could run is asked itself. */
  get lost(): AbortSignal | undefined {
    return this.#signals.find(({ aborted }) => aborted) ?? this.#lost;
  }

  /** Rejects when a store fails, unless the other one says that the keys are gone. */
  async extend(ttl: number): Promise<boolean> {
    const { from, to } = this.#grant;
    const sentAt = this.#clock.now();
    const [one, other] = await Promise.allSettled([from, to].map((each) => ask(() => each.extend(ttl)))); // prettier-ignore
    const areGone = [one!, other!].some((each) => each.status === 'fulfilled' && !each.value);
    if (areGone) this.#giveBack();
    else {
      agreed(one!, other!);
      this.#endAfter(ttl, sentAt);
    }
    return !areGone;
  }

  /** First `to`: the next holder of `from` is not refused there. */
  async release(isValid?: () => boolean): Promise<boolean> {
    const { from, to, request } = this.#grant;
    this.#ends.cancel(request);
    const [other] = await Promise.allSettled([ask(() => to.release(isValid))]);
    const [one] = await Promise.allSettled([ask(() => from.release(isValid))]);
    return agreed(one, other);
  }

  async #downgrade(): Promise<boolean> {
    const { from, to } = this.#grant;
    const areOurs = (await ask(() => from.downgrade!())) && (await ask(() => to.downgrade!()));
    this.#isReader ||= areOurs;
    if (!areOurs) this.#giveBack();
    return areOurs;
  }

  /** Keys that are gone in one store would only keep others waiting in the other one. */
  #giveBack(): void {
    const { from, to, request } = this.#grant;
    this.#ends.cancel(request);
    giveBack(to);
    giveBack(from);
  }

  #endAfter(ttl: number, sentAt: number): void {
    const { request, bySession } = this.#grant;
    if (bySession) this.#ends.set(request, bySession, sentAt, ttl);
  }

  get #signals(): AbortSignal[] {
    const { from, to } = this.#grant;
    return [from, to].flatMap(({ lost }) => lost ?? []);
  }
}

async function ask(question: () => Promise<boolean>): Promise<boolean> {
  const answer = await promiseTry(question);
  checkBoolean(answer);
  return answer;
}

/** Whether both said yes. Throws what one of them threw. */
function agreed(...answers: readonly PromiseSettledResult<boolean>[]): boolean {
  for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
  return answers.every((answer) => answer.status === 'fulfilled' && answer.value);
}
