import { EXTEND } from './redis-scripts.js';
import type { ScriptRunner } from './script-runner.js';

/** Locks per call: enough to spare commands, and little enough to keep nobody else waiting at the server. */
const LARGEST_CALL = 100;

interface Extension {
  readonly locks: readonly string[];
  readonly value: string;
  readonly resolve: (isOurs: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** What may share a call: the same ttl and, in a Cluster, the same slot. */
interface Group {
  readonly ttl: number;
  readonly extensions: Extension[];
  locks: number;
}

/** Sends the extensions of one turn of the event loop in few calls. Each lease has its own answer. */
export class Extensions {
  readonly #runner: ScriptRunner;
  readonly #slotOf: (lock: string) => number;
  #groups = new Map<string, Group>();

  /** `slotOf` keeps apart what cannot share a call. */
  constructor(runner: ScriptRunner, slotOf: (lock: string) => number) {
    this.#runner = runner;
    this.#slotOf = slotOf;
  }

  /** Resolves `false` when a key is no longer ours. */
  extend(locks: readonly string[], value: string, ttl: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const name = `${ttl} ${this.#slotOf(locks[0]!)}`;
      let group = this.#groups.get(name);
      if (!group) group = this.#open(name, ttl);
      group.extensions.push({ locks, value, resolve, reject });
      group.locks += locks.length;
      if (group.locks >= LARGEST_CALL) this.#send(name, group);
    });
  }

  #open(name: string, ttl: number): Group {
    const group = { ttl, extensions: [], locks: 0 };
    this.#groups.set(name, group);
    process.nextTick(() => {
      if (this.#groups.get(name) === group) this.#send(name, group);
    });
    return group;
  }

  #send(name: string, { ttl, extensions }: Group): void {
    this.#groups.delete(name);
    const keys: string[] = [];
    const args: (string | number)[] = [ttl];
    for (const { locks, value } of extensions) {
      for (const lock of locks) {
        keys.push(lock);
        args.push(value);
      }
    }
    const answers = this.#runner.run(EXTEND, keys, args, (reply) => reply as unknown[]);
    this.#runner.acknowledged(answers).then(
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
