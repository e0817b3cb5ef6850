import type { TakeBacks } from './take-backs.js';
import type { NamedLock } from '../keys/named-lock.js';
import { LockBatch } from './lock-batch.js';
import type { LockRequest } from './lock-batch.js';
import { loneArgs, loneScript } from '../lua/lock-script.js';
import { rethrow } from '../../../redis-client/redis-script.js';
import { isErrorText, isOne } from '../lua/replies.js';
import type { ScriptRunner } from './script-runner.js';
import { LARGEST_CALL } from './call-batcher.js';
import { BatchProbe } from './batch-probe.js';

/** Size of the first batch of an event-loop turn, in keys: small, so that the server starts early; later batches double. */
const FIRST_CALL = 4;

/** A request, and what becomes of its answer. */
export interface LockCall<Answer> extends LockRequest {
  readonly read: (reply: unknown) => Answer | Promise<Answer>;
  /** Is told that the request failed. */
  readonly failed?: () => void;
}

/**
 * Takes and frees locks. The requests of one turn of the event loop leave in few calls, in their order: a command costs the
 * client and the server more than its work on a lock.
 */
export class LockCalls {
  readonly #runner: ScriptRunner;
  readonly #slotOf: (lock: string) => number;
  readonly #gathers: boolean;
  /** Batches not yet sent, by group: groups cannot share a call. */
  readonly #gathered = new Map<number, LockBatch>();
  #first = FIRST_CALL;
  /** Size of the batch at which it is sent, and how much of it is still missing. */
  #limit = 0;
  #missing = 0;
  /** Of the present turn; 0 without one. */
  #size = 0;
  readonly #probe = new BatchProbe();
  readonly #takeBacks: TakeBacks;

  /**
   * `slotOf` separates keys that cannot share a call. Without `gathers`, each request has its own call, and a lock that is taken is
   * awaited on the replicas.
   */
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

  /** From now on, a turn sends once it is over: this process also waits for other servers. */
  gatherWholeTurns(): void {
    this.#first = LARGEST_CALL;
  }

  /** Resolves `false` when a key had been lost. A failed release is repeated in the background. */
  release(held: NamedLock): Promise<boolean> {
    return this.make({ held, read: isOne });
  }

  /** After a request that failed; it may have been applied all the same. */
  abandon(held: NamedLock): void {
    this.#takeBacks.add(held, () => this.make({ held, read: isOne }, rethrow));
  }

  #failed({ held, failed }: LockCall<unknown>, error: unknown): never {
    failed?.();
    this.abandon(held);
    throw error;
  }

  /** Resolves with `read` of the reply. A failed request is taken back, or repeated, in the background. */
  make<Answer>(
    call: LockCall<Answer>,
    failed: (error: unknown) => never = (error) => this.#failed(call, error),
  ): Promise<Answer> {
    const { held, ttl, read } = call;
    if (ttl !== undefined && this.#takeBacks.kept.size > 0) this.#takeBacks.forget(held);
    if (!this.#gathers || (this.#size === 0 && this.#probe.goesAtOnce())) {
      const script = loneScript(call);
      const args = loneArgs(held.value, call);
      if (this.#gathers || ttl === undefined)
        return this.#runner.run(script, held.keys, args, read, failed);
      return this.#runner.change(script, held.keys, args, read, failed);
    }
    if (this.#size === 0) this.#beginTurn();
    const batch = this.#batchFor(held);
    const index = batch.add(call);
    this.#count(held.request.keys.length);
    return batch.answers.then((answers) => {
      try {
        return read(answerFrom(answers, index));
      } catch (error) {
        return failed(error);
      }
    }, failed);
  }

  /** The first request of a turn that is not sent at once. */
  #beginTurn(): void {
    this.#limit = this.#first;
    this.#missing = this.#first;
    process.nextTick(this.#end);
  }

  #batchFor(held: NamedLock): LockBatch {
    const slot = this.#slotOf(held.keys[0]!);
    let batch = this.#gathered.get(slot);
    if (!batch) this.#gathered.set(slot, (batch = new LockBatch()));
    return batch;
  }

  /** Counts one more request. A lock of many keys is as much work for the server as many locks. */
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

  /** Sends all batches. */
  send(): void {
    if (this.#gathered.size === 0) return;
    const batches = [...this.#gathered.values()];
    this.#gathered.clear();
    for (const batch of batches) batch.send(this.#runner);
  }
}

/** A single lock in a call has no text of an error: that is an error of the command. */
function answerFrom(answers: readonly unknown[], index: number): unknown {
  const answer = answers[index];
  if (answers.length > 1 && isErrorText(answer)) throw new Error(answer);
  return answer;
}
