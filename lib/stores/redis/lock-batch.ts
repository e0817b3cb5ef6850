import { promised } from '../../core/store-call.js';
import type { Held } from './held.js';
import { ACQUIRE_OR_RELEASE, wish } from './lock-script.js';
import { asList } from './replies.js';
import type { ScriptRunner } from './script-runner.js';

/** What `ACQUIRE_OR_RELEASE` says, for each lock of a call. */
type Answers = readonly unknown[];

/** One call for some locks, each of which is taken or freed. */
export class LockBatch {
  readonly answers: Promise<Answers>;
  readonly #keys: string[] = [];
  readonly #args: string[] = [];
  #answer!: (answers: Answers) => void;
  #fail!: (error: unknown) => void;
  #size = 0;

  constructor() {
    this.answers = new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#fail = reject;
    });
  }

  /** Without a `ttl`, the lock is freed. Returns the index of its answer. */
  add({ request, keys, value }: Held, ttl?: number, floor?: bigint): number {
    this.#keys.push(...keys);
    this.#args.push(...wish(value, request.keys.length, ttl, floor));
    return this.#size++;
  }

  /** To be called once. */
  send(runner: ScriptRunner): void {
    const read = (reply: unknown) => (this.#size === 1 ? [reply] : asList(reply, this.#size));
    promised(() => runner.run(ACQUIRE_OR_RELEASE, this.#keys, this.#args, read)).then(
      this.#answer,
      this.#fail,
    );
  }
}
