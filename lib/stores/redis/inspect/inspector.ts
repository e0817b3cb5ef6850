import type { LockInspection } from '../../../core/contract/lock-inspection.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
import { MOST_LISTED_WAITERS, MOST_WAITERS } from '../../../core/list/most-waiters.js';
import type { CounterTrial } from '../keys/counter-trial.js';
import type { SeenHolders } from '../keys/seen-holders.js';
import { BESIDE_INSPECTED } from '../keys/server-keys.js';
import type { ServerKeys } from '../keys/server-keys.js';
import type { ScriptRunner } from '../send/script-runner.js';
import { INSPECT, INSPECT_ALONE } from './inspect-script.js';
import { asInspections } from './inspection.js';

/** Locks of one script. With its waiters, each costs the server about ten commands. */
const LOCKS_AT_ONCE = 50;
const ALL = -1;
/** The slot of the key moves: one of the keys beside it is missing at its old master, or at the new one. */
const IS_MOVING = /\bTRYAGAIN\b|Too many Cluster redirections/;
/** Sharers that a list names of each lock. */
const MOST_LISTED_SHARERS = 100;

/** Asks for what a server knows of held keys. */
export class Inspector {
  readonly #keys: ServerKeys;
  readonly #runner: ScriptRunner;
  readonly #trial: CounterTrial;
  readonly #seen: SeenHolders;
  #isOneByOne: boolean;

  /** `isOneServer`: one script may name keys of several slots. */
  constructor(
    keys: ServerKeys,
    runner: ScriptRunner,
    trial: CounterTrial,
    isOneServer: boolean,
    seen: SeenHolders,
  ) {
    this.#keys = keys;
    this.#seen = seen;
    this.#runner = runner;
    this.#trial = trial;
    this.#isOneByOne = !isOneServer;
  }

  async one(key: string): Promise<LockInspection | undefined> {
    return (await this.#trial.run(() => this.#ask([key], [MOST_WAITERS, ALL])))[0];
  }

  /** Those that are held. Of each, fewer waiters and sharers. */
  async many(keys: readonly string[]): Promise<LockInspection[]> {
    const answers = this.#isOneByOne ? await this.#eachAlone(keys) : await this.#inParts(keys);
    return answers.flat().filter((each) => each !== undefined);
  }

  async #inParts(keys: readonly string[]): Promise<(LockInspection | undefined)[][]> {
    try {
      return await this.#askAll(keys, LOCKS_AT_ONCE);
    } catch (error) {
      if (!/\bCROSSSLOT\b/.test(reasonOf(error))) throw error;
      this.#isOneByOne = true; // a server in a Cluster, with a client that knows nothing of it
      return this.#eachAlone(keys);
    }
  }

  #eachAlone(keys: readonly string[]): Promise<(LockInspection | undefined)[][]> {
    return this.#trial.run(() => this.#askAll(keys, 1));
  }

  #askAll(keys: readonly string[], atOnce: number): Promise<(LockInspection | undefined)[][]> {
    const parts = Array.from({ length: Math.ceil(keys.length / atOnce) }, (_, index) =>
      keys.slice(index * atOnce, (index + 1) * atOnce),
    );
    const bounds = [MOST_LISTED_WAITERS, MOST_LISTED_SHARERS];
    return Promise.all(parts.map((part) => this.#ask(part, bounds)));
  }

  async #ask(
    keys: readonly string[],
    bounds: readonly number[],
  ): Promise<(LockInspection | undefined)[]> {
    const names = keys.flatMap((key) => this.#keys.with(BESIDE_INSPECTED, [key]));
    const read = (reply: unknown) => asInspections(keys, reply, this.#seen);
    try {
      return await this.#runner.run(INSPECT, names, bounds, read);
    } catch (error) {
      if (keys.length > 1 || !IS_MOVING.test(reasonOf(error))) throw error;
      return this.#runner.run(INSPECT_ALONE, this.#keys.locks(keys), [], read);
    }
  }
}
