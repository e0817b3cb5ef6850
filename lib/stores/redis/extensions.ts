import { EXTEND } from './redis-scripts.js';
import type { ScriptRunner } from './script-runner.js';
import { TurnCalls } from './turn-calls.js';

interface Extension {
  /** The first `locks` of them are locks. */
  readonly keys: readonly string[];
  readonly locks: number;
  readonly value: string;
  readonly ttl: number;
  readonly resolve: (isOurs: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends the extensions of one turn of the event loop in few calls. Each lease has its own answer. */
export class Extensions {
  readonly #runner: ScriptRunner;
  readonly #waiting: TurnCalls<Extension>;

  /** `slotOf` keeps apart what cannot share a call. */
  constructor(runner: ScriptRunner, slotOf: (lock: string) => number) {
    this.#runner = runner;
    this.#waiting = new TurnCalls(
      ({ ttl, keys }) => `${ttl} ${slotOf(keys[0]!)}`,
      (extensions) => this.#call(extensions),
    );
  }

  /** Resolves `false` when a key is no longer ours. */
  extend(keys: readonly string[], locks: number, value: string, ttl: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.add({ keys, locks, value, ttl, resolve, reject });
    });
  }

  #call(extensions: readonly Extension[]): void {
    const locks: string[] = [];
    const args: (string | number)[] = [extensions[0]!.ttl];
    for (const each of extensions) {
      for (let index = 0; index < each.locks; index++) locks.push(each.keys[index]!);
      args.push(each.locks, each.value);
    }
    this.#runner
      .change(EXTEND, locks, args, (reply) => reply as unknown[])
      .then(
        (all) => settle(extensions, all),
        (error: unknown) => {
          for (const each of extensions) each.reject(error);
        },
      );
  }
}

/** An answer that is no number is the text of an error. Some clients make strings of numbers. */
function settle(extensions: readonly Extension[], answers: readonly unknown[]): void {
  extensions.forEach(({ resolve, reject }, index) => {
    const answer = Number(answers[index]);
    if (Number.isNaN(answer)) reject(new Error(String(answers[index])));
    else resolve(answer === 1);
  });
}
