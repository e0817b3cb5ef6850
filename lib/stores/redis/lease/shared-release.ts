import type { TakeBacks } from '../send/take-backs.js';
import type { NamedLock } from '../keys/named-lock.js';
import { isOne } from '../lua/replies.js';
import type { ScriptRunner } from '../send/script-runner.js';
import { RELEASE_SHARED } from '../lua/sharing-scripts.js';

/** Of one sharer. Resolves `false` when a key had been lost. */
export function releaseShared(runner: ScriptRunner, { keys, value }: NamedLock): Promise<boolean> {
  return runner.run(RELEASE_SHARED, keys, [value], isOne);
}

/** After a request that failed; it may have been applied all the same. */
export function abandonShared(takeBacks: TakeBacks, runner: ScriptRunner, held: NamedLock): void {
  takeBacks.add(held, () => releaseShared(runner, held));
}
