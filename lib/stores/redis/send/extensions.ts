import { isOfOneKey } from '../../../redis-client/driver-error.js';
import type { NamedLock } from '../keys/named-lock.js';
import type { RedisScript } from '../../../redis-client/redis-script.js';
import { asList, isErrorText, isOne } from '../lua/replies.js';
import type { ScriptRunner } from './script-runner.js';
import { CallBatcher } from './call-batcher.js';

interface Extension {
  readonly held: NamedLock;
  readonly keys: readonly string[];
  readonly ttl: number;
  readonly resolve: (isOurs: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends the extensions of one turn of the event loop in few calls. Each lease gets its own answer. */
export class Extensions {
  readonly #runner: ScriptRunner;
  readonly #script: RedisScript;
  readonly #parts: readonly number[];
  readonly #waiting: CallBatcher<Extension>;

  /** `script` needs these `parts` of the keys of each lease. Without `gathers`, each lease has its own call. */
  constructor(
    runner: ScriptRunner,
    gathers: boolean,
    script: RedisScript,
    parts: readonly number[],
  ) {
    this.#runner = runner;
    this.#script = script;
    this.#parts = parts;
    this.#waiting = new CallBatcher(
      ({ ttl, held }) => (gathers ? ttl : held.keys[0]!),
      (extensions) => this.#call(extensions),
    );
  }

  /** Resolves `false` when a key is no longer ours. */
  extend(held: NamedLock, ttl: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.add({ held, keys: held.keys, ttl, resolve, reject });
    });
  }

  #call(extensions: readonly Extension[]): void {
    const keys: string[] = [];
    const args: (string | number)[] = [extensions[0]!.ttl];
    for (const { held } of extensions) {
      const locks = held.request.keys.length;
      for (const part of this.#parts)
        for (let index = 0; index < locks; index++) keys.push(held.keys[part * locks + index]!);
      args.push(locks, held.value);
    }
    this.#runner
      .change(this.#script, keys, args, (reply) => asList(reply, extensions.length))
      .then(
        (all) => settle(extensions, all),
        (error: unknown) => {
          const isAlone = extensions.length === 1;
          for (const each of extensions)
            if (isAlone || !isOfOneKey(error)) each.reject(error);
            else this.#call([each]);
        },
      );
  }
}

function settle(extensions: readonly Extension[], answers: readonly unknown[]): void {
  extensions.forEach(({ resolve, reject }, index) => {
    const answer = answers[index];
    try {
      if (isErrorText(answer)) throw new Error(answer);
      resolve(isOne(answer));
    } catch (error) {
      reject(error);
    }
  });
}
