import { promiseTry } from '../../../core/store/store-call.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
import { isOfOneKey } from '../../../redis-client/driver-error.js';
import type { NamedLock } from '../keys/named-lock.js';
import { TAKE_AND_FREE, batchArgs, loneArgs, loneScript } from '../lua/lock-script.js';
import type { Wanted } from '../lua/lock-script.js';
import { asList } from '../lua/replies.js';
import type { ScriptRunner } from './script-runner.js';

/** A request about a lock: without a `ttl`, to free it. */
export interface LockRequest extends Wanted {
  readonly held: NamedLock;
}

/** One for each lock of a call. */
type Answers = readonly unknown[];

/** One call that takes or frees several locks. */
export class LockBatch {
  readonly answers: Promise<Answers>;
  readonly #requests: LockRequest[] = [];
  #answer!: (answers: Answers) => void;
  #fail!: (error: unknown) => void;

  constructor() {
    this.answers = new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#fail = reject;
    });
  }

  /** Returns the index of its answer. */
  add(request: LockRequest): number {
    return this.#requests.push(request) - 1;
  }

  /** To be called once. */
  send(runner: ScriptRunner): void {
    const [first] = this.#requests;
    const isAlone = this.#requests.length === 1;
    const answers = isAlone ? sendAlone(runner, first!) : this.#sendTogether(runner);
    answers.then(this.#answer, (error: unknown) => {
      if (isAlone || !isOfOneKey(error)) this.#fail(error);
      else void this.#sendEach(runner).then(this.#answer);
    });
  }

  #sendTogether(runner: ScriptRunner): Promise<Answers> {
    const keys: string[] = [];
    const args: string[] = [];
    for (const request of this.#requests) {
      const { held } = request;
      for (const key of held.keys) keys.push(key);
      for (const arg of batchArgs(held.value, held.request.keys.length, request)) args.push(arg);
    }
    const read = (reply: unknown) => asList(reply, this.#requests.length);
    return promiseTry(() => runner.run(TAKE_AND_FREE, keys, args, read));
  }

  /** Each lock in its own call. Never rejects: an error is answered as its text. */
  async #sendEach(runner: ScriptRunner): Promise<Answers> {
    const own = this.#requests.map((each) =>
      sendAlone(runner, each).catch((error) => [reasonOf(error)]),
    );
    return (await Promise.all(own)).map(([answer]) => answer);
  }
}

function sendAlone(runner: ScriptRunner, request: LockRequest): Promise<Answers> {
  const { keys, value } = request.held;
  const script = loneScript(request);
  return promiseTry(() => runner.run(script, keys, loneArgs(value, request), (reply) => [reply]));
}
