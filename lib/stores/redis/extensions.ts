import { EXTEND } from './redis-scripts.js';
import type { ScriptRunner } from './script-runner.js';

/** Leases per call: enough to spare commands, and little enough to keep nobody else waiting at the server. */
const LARGEST_CALL = 100;

interface Extension {
  readonly locks: readonly string[];
  readonly value: string;
  readonly ttl: number;
  readonly resolve: (isOurs: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends the extensions of one turn of the event loop in few calls. Each lease has its own answer. */
export class Extensions {
  readonly #runner: ScriptRunner;
  readonly #groupOf: (lock: string) => number;
  #waiting: Extension[] = [];

  /** `groupOf` keeps apart what cannot share a call: in a Cluster, keys of different slots. */
  constructor(runner: ScriptRunner, groupOf: (lock: string) => number) {
    this.#runner = runner;
    this.#groupOf = groupOf;
  }

  /** Resolves `false` when a key is no longer ours. */
  extend(locks: readonly string[], value: string, ttl: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) process.nextTick(this.#send);
      this.#waiting.push({ locks, value, ttl, resolve, reject });
    });
  }

  readonly #send = (): void => {
    const groups = new Map<number, Extension[]>();
    for (const each of this.#waiting) {
      const group = this.#groupOf(each.locks[0]!);
      const open = groups.get(group);
      if (open) open.push(each);
      else groups.set(group, [each]);
    }
    this.#waiting = [];
    for (const group of groups.values()) {
      for (let from = 0; from < group.length; from += LARGEST_CALL) {
        void this.#call(group.slice(from, from + LARGEST_CALL));
      }
    }
  };

  /** Never rejects. */
  async #call(extensions: readonly Extension[]): Promise<void> {
    const keys: string[] = [];
    const args: (string | number)[] = [];
    for (const { locks, value, ttl } of extensions) {
      keys.push(...locks);
      args.push(locks.length, value, ttl);
    }
    try {
      const answers = this.#runner.run(EXTEND, keys, args, (reply) => reply as unknown[]);
      settle(extensions, await this.#runner.acknowledged(answers));
    } catch (error) {
      for (const each of extensions) each.reject(error);
    }
  }
}

/** The script answers an error as its text. Some clients make strings of numbers. */
function settle(extensions: readonly Extension[], answers: readonly unknown[]): void {
  extensions.forEach(({ resolve, reject }, index) => {
    const answer = answers[index];
    const number = Number(answer);
    if (number === 0 || number === 1) resolve(number === 1);
    else reject(new Error(String(answer)));
  });
}
