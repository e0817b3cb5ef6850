import { promiseTry } from '../../../core/store/store-call.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
import { isOfOneKey } from '../../../redis-client/driver-error.js';
import type { NamedLock } from '../keys/named-lock.js';
import { ACQUIRE_OR_RELEASE, WORDS, lockArgs } from '../lua/lock-script.js';
import { asList } from '../lua/replies.js';
import type { ScriptRunner } from './script-runner.js';

/** The answers of `ACQUIRE_OR_RELEASE`, one for each lock of a call. */
type Answers = readonly unknown[];

/** One call that takes or frees several locks. */
export class LockBatch {
  readonly answers: Promise<Answers>;
  readonly #keys: string[] = [];
  readonly #args: string[] = [];
  #answer!: (answers: Answers) => void;
  #fail!: (error: unknown) => void;
  /** Where the keys of each lock begin, and the end of the last. */
  readonly #ends = [0];

  constructor() {
    this.answers = new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#fail = reject;
    });
  }

  /** Without a `ttl`, the lock is freed. Returns the index of its answer. */
  add({ request, keys, value }: NamedLock, ttl?: number, last?: bigint | number): number {
    for (const key of keys) this.#keys.push(key);
    for (const arg of lockArgs(value, request.keys.length, ttl, last)) this.#args.push(arg);
    return this.#ends.push(this.#keys.length) - 2;
  }

  /** To be called once. */
  send(runner: ScriptRunner): void {
    const size = this.#ends.length - 1;
    const read = (reply: unknown) => (size === 1 ? [reply] : asList(reply, size));
    promiseTry(() => runner.run(ACQUIRE_OR_RELEASE, this.#keys, this.#args, read)).then(
      this.#answer,
      (error: unknown) => {
        if (size === 1 || !isOfOneKey(error)) this.#fail(error);
        else void this.#sendEach(runner).then(this.#answer);
      },
    );
  }

  /** Each lock in its own call. Never rejects: an error is answered as its text. */
  #sendEach(runner: ScriptRunner): Promise<Answers> {
    const starts = this.#ends.slice(0, -1);
    const answers = starts.map((start, index) => {
      const keys = this.#keys.slice(start, this.#ends[index + 1]);
      const args = this.#args.slice(index * WORDS, (index + 1) * WORDS);
      return promiseTry(() => runner.run(ACQUIRE_OR_RELEASE, keys, args, asItIs)).catch(reasonOf);
    });
    return Promise.all(answers);
  }
}

function asItIs(reply: unknown): unknown {
  return reply;
}
