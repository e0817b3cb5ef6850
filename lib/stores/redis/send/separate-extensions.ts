import type { Extensions } from './extensions.js';
import type { NamedLock } from '../keys/named-lock.js';
import { isOne } from '../lua/replies.js';
import type { ScriptRunner } from './script-runner.js';
import { EXTEND_LOCK_OF_SHARERS, EXTEND_SHARER } from '../lua/sharing-scripts.js';

/**
 * Extends a sharer's lease on a Cluster, first in the set of sharers and then in the lock: while a slot moves, the two may be on
 * different nodes for as long as the move takes, and no script sees both.
 */
export class SeparateExtensions {
  readonly #runner: ScriptRunner;
  readonly #together: Extensions;

  /** `together` does both in one step. */
  constructor(runner: ScriptRunner, together: Extensions) {
    this.#runner = runner;
    this.#together = together;
  }

  /** Resolves `false` when the key is no longer ours. */
  async extend(held: NamedLock, ttl: number): Promise<boolean> {
    const [lock, , sharers] = held.keys as [string, string, string];
    const args = [held.value, ttl];
    const isSharer = await this.#runner.change(EXTEND_SHARER, [sharers], args, asSharer);
    if (isSharer === undefined) return this.#together.extend(held, ttl);
    return isSharer && this.#runner.change(EXTEND_LOCK_OF_SHARERS, [lock], args, isOne);
  }
}

/** `undefined`: its ttl would be shortened. */
function asSharer(reply: unknown): boolean | undefined {
  return reply === null ? undefined : isOne(reply);
}
