import type { Lease } from '../../core/lock-store.js';
import type { Extensions } from './extensions.js';
import { FENCING_BLOCK } from './redis-lua.js';
import { PASS_ON, RELEASE } from './redis-scripts.js';
import type { ScriptRunner } from './script-runner.js';
import { Tenure } from './tenure.js';
import type { Tenures } from './tenures.js';

/** What the leases of one store share. */
export interface LeaseSurroundings {
  readonly runner: ScriptRunner;
  readonly extensions: Extensions;
  /** Missing where nobody can stand in line. */
  readonly tenures: Tenures | undefined;
}

/** The keys of a lease as they are called on the server, and the value that says whose they are. */
export interface Held {
  /** The locks, then their counters, then their queues. */
  readonly keys: readonly string[];
  readonly value: string;
}

/** The lock, its counter and its queue. */
const KEYS_PER_LOCK = 3;

export class RedisLease implements Lease {
  readonly fencingToken: bigint;
  readonly #held: Held;
  readonly #around: LeaseSurroundings;
  readonly #tenure: Tenure | undefined;
  #isReleased = false;

  /** `tenure` is known once the lease may be passed on without asking. */
  constructor(held: Held, fence: unknown, around: LeaseSurroundings, tenure?: Tenure) {
    this.fencingToken = BigInt(fence as number | string | bigint); // a string where the client makes strings of numbers
    this.#held = held;
    this.#around = around;
    this.#tenure = tenure;
  }

  extend(ttl: number): Promise<boolean> {
    const { keys, value } = this.#held;
    return this.#around.extensions.extend(keys, keys.length / KEYS_PER_LOCK, value, ttl);
  }

  release(): Promise<boolean> {
    if (this.#isReleased) return Promise.resolve(false);
    this.#end();
    const { keys, value } = this.#held;
    return this.#around.runner.run(RELEASE, keys, [value], isOne);
  }

  passOn(ttl: number, renew: boolean): Lease | Promise<Lease | undefined> | undefined {
    const { tenures } = this.#around;
    if (!tenures?.allowsPasses || this.#held.keys.length > KEYS_PER_LOCK) return undefined;
    if (this.#tenure && !tenures.mayPass(this.#tenure)) return undefined;
    if (renew || !this.#tenure?.tokensLeft) return this.#renewed(tenures, ttl);
    this.#isReleased = true;
    this.#tenure.tokensLeft--;
    return new RedisLease(this.#held, this.fencingToken + 1n, this.#around, this.#tenure);
  }

  async #renewed(tenures: Tenures, ttl: number): Promise<Lease | undefined> {
    this.#isReleased = true;
    const { keys, value } = this.#held;
    const { runner } = this.#around;
    try {
      await tenures.listen();
      const tenure = this.#tenure ?? tenures.begin(keys[0]!, false, 0); // before a message about it can come
      const reply = await runner.acknowledged(
        runner.run(PASS_ON, keys, [value, ttl], (answer) => answer as unknown[] | null),
      );
      if (!reply) return undefined;
      const [fence, others] = reply;
      tenure.isContended ||= isOne(others);
      if (!this.#tenure) tenures.mayPass(tenure);
      tenure.tokensLeft = FENCING_BLOCK - 1;
      return new RedisLease(this.#held, fence, this.#around, tenure);
    } catch (error) {
      // it may have been applied all the same; where this fails too, the ttl frees the key
      runner.run(RELEASE, keys, [value], isOne).catch(() => undefined);
      throw error;
    }
  }

  #end(): void {
    this.#isReleased = true;
    if (this.#tenure) this.#around.tenures?.end(this.#held.keys[0]!);
  }
}

export function isOne(reply: unknown): boolean {
  return Number(reply) === 1;
}
