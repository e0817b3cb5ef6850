import type { Held } from './held.js';
import { isOne } from './replies.js';
import type { ScriptRunner } from './script-runner.js';
import { RELEASE_SHARED } from './shared-scripts.js';

/** Of one of those who share some locks. Resolves `false` when a key had been lost. */
export function releaseShared(runner: ScriptRunner, { keys, value }: Held): Promise<boolean> {
  return runner.run(RELEASE_SHARED, keys, [value], isOne);
}

/** After a request that failed, which may have been applied all the same. Where this fails too, the ttl frees the key. */
export function abandonShared(runner: ScriptRunner, held: Held): void {
  releaseShared(runner, held).catch(() => undefined);
}
