import type { TakeBacks } from './failover/take-backs.js';
import type { Held } from './held.js';
import { isOne } from './replies.js';
import type { ScriptRunner } from './script-runner.js';
import { RELEASE_SHARED } from './shared-scripts.js';

/** Of one of those who share some locks. Resolves `false` when a key had been lost. */
export function releaseShared(runner: ScriptRunner, { keys, value }: Held): Promise<boolean> {
  return runner.run(RELEASE_SHARED, keys, [value], isOne);
}

/** After a request that failed, which may have been applied all the same. */
export function abandonShared(takeBacks: TakeBacks, runner: ScriptRunner, held: Held): void {
  takeBacks.add(held, () => releaseShared(runner, held));
}
