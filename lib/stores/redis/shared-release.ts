import type { Held } from './held.js';
import type { RedisScript } from './redis-script.js';
import { isOne } from './redis-script.js';
import type { ScriptRunner } from './script-runner.js';

/** `script` is the release of its kind. */
export function release(
  runner: ScriptRunner,
  script: RedisScript,
  { keys, value }: Held,
): Promise<boolean> {
  return runner.run(script, keys, [value], isOne);
}

/** After a request that failed, which may have been applied all the same. Where this fails too, the ttl frees the key. */
export function abandon(runner: ScriptRunner, script: RedisScript, held: Held): void {
  release(runner, script, held).catch(() => undefined);
}
