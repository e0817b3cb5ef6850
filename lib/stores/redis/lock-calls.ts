import type { TakeBacks } from './failover/take-backs.js';
import type { Held } from './held.js';
import { LockBatch } from './lock-batch.js';
import { ACQUIRE_OR_RELEASE, wish } from './lock-script.js';
import { rethrow } from './redis-script.js';
import { asFencingToken, isErrorText, isOne } from './replies.js';
import type { ScriptRunner } from './script-runner.js';
import { LARGEST_CALL } from './turn-calls.js';
import { TurnProbe } from './turn-probe.js';

/** Keys that are gathered before a turn sends anything: the server has something to do. Then it is twice as many each time. */
const FIRST_CALL = 4;

/** What somebody wants of a lock: without a `ttl`, to free it. */
interface LockCall {
  readonly held: Held;
  readonly ttl?: number;
  readonly floor?: bigint | undefined;
}

/**
 * Takes and frees locks. What is wanted in one turn of the event loop leaves in few calls, in the order in which it was wanted:
 * a command costs the client and the server more than what it does to a lock.
 */
export class LockCalls {
  readonly #runner: ScriptRunner;
  readonly #slotOf: (lock: string) => number;
  readonly #gathers: boolean;
  /** What has not been sent, by what cannot share a call. */
  readonly #gathered = new Map<number, LockBatch>();
  #first = FIRST_CALL;
  /** How many are gathered before they are sent, of which so many are still missing. */
  #limit = 0;
  #missing = 0;
  /** Of the turn that is gathered; 0 while none is. */
  #size = 0;
  readonly #probe = new TurnProbe();
  readonly #takeBacks: TakeBacks;

  /** `slotOf` keeps apart what cannot share a call. Without `gathers`, nothing shares one. */
  constructor(
    runner: ScriptRunner,
    slotOf: (lock: string) => number,
    gathers: boolean,
    takeBacks: TakeBacks,
  ) {
    this.#takeBacks = takeBacks;
    this.#runner = runner;
    this.#slotOf = slotOf;
    this.#gathers = gathers;
  }

  /** From now on, a turn sends once it is over: other servers keep this process waiting. */
  gatherWholeTurns(): void {
    this.#first = LARGEST_CALL;
  }

  /** Resolves with what `read` makes of the fencing token; `undefined` when somebody else has the lock. */
  acquire<T>(
    held: Held,
    ttl: number,
    floor: bigint | undefined,
    read: (fence: bigint) => T,
  ): Promise<T | undefined> {
    this.#takeBacks.forget(held);
    const granted = (fence: unknown) => (fence === null ? undefined : read(asFencingToken(fence)));
    return this.#ask({ held, ttl, floor }, granted, this.#abandoning(held));
  }

  /** Resolves `false` when a key had been lost. One that fails is repeated behind the caller's back. */
  release(held: Held): Promise<boolean> {
    return this.#ask({ held }, isOne, this.#abandoning(held));
  }

  /** After a request that failed, which may have been applied all the same. */
  abandon(held: Held): void {
    this.#takeBacks.add(held, () => this.#ask({ held }, isOne, rethrow));
  }

  #abandoning(held: Held): (error: unknown) => never {
    return (error) => {
      this.abandon(held);
      throw error;
    };
  }

  #ask<T>(
    { held, ttl, floor }: LockCall,
    read: (answer: unknown) => T,
    failed: (error: unknown) => never,
  ): Promise<T> {
    if (!this.#gathers || this.#goesAlone()) {
      const args = wish(held.value, held.request.keys.length, ttl, floor);
      if (ttl === undefined)
        return this.#runner.run(ACQUIRE_OR_RELEASE, held.keys, args, read, failed);
      return this.#runner.change(ACQUIRE_OR_RELEASE, held.keys, args, read, failed);
    }
    const batch = this.#batchFor(held);
    const index = batch.add(held, ttl, floor);
    this.#count(held.request.keys.length);
    return batch.answers.then((answers) => {
      try {
        return read(answerFrom(answers, index));
      } catch (error) {
        return failed(error);
      }
    }, failed);
  }

  #goesAlone(): boolean {
    if (this.#size > 0) return false;
    if (this.#probe.goesAtOnce()) return true;
    this.#limit = this.#first;
    this.#missing = this.#first;
    process.nextTick(this.#end);
    return false;
  }

  #batchFor(held: Held): LockBatch {
    const slot = this.#slotOf(held.keys[0]!);
    let batch = this.#gathered.get(slot);
    if (!batch) this.#gathered.set(slot, (batch = new LockBatch()));
    return batch;
  }

  /** One more has been gathered. A lock of many keys is as much work for the server as many locks. */
  #count(keys: number): void {
    this.#size++;
    this.#missing -= keys;
    if (this.#missing > 0) return;
    this.send();
    this.#limit = Math.min(2 * this.#limit, LARGEST_CALL);
    this.#missing = this.#limit;
  }

  readonly #end = (): void => {
    this.#probe.looked(this.#size);
    this.#size = 0;
    this.send();
  };

  /** Sends what has been gathered. */
  send(): void {
    if (this.#gathered.size === 0) return;
    const batches = [...this.#gathered.values()];
    this.#gathered.clear();
    for (const batch of batches) batch.send(this.#runner);
  }
}

/** A lock that is alone in its call has no text of an error: that is an error of the command. */
function answerFrom(answers: readonly unknown[], index: number): unknown {
  const answer = answers[index];
  if (answers.length > 1 && isErrorText(answer)) throw new Error(answer);
  return answer;
}
