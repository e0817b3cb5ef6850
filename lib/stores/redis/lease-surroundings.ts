import type { Extensions } from './extensions.js';
import type { Held, HeldNames } from './held.js';
import type { RedisScript } from './redis-script.js';
import { isOne } from './redis-script.js';
import type { ScriptRunner } from './script-runner.js';
import type { Tenures } from './tenures.js';

/** What the leases of one store share. */
export interface LeaseSurroundings {
  readonly runner: ScriptRunner;
  readonly names: HeldNames;
  readonly extensions: Extensions;
  /** Of those who share a lock. */
  readonly sharedExtensions: Extensions;
  /** Missing where nobody can stand in line. */
  readonly tenures: Tenures | undefined;
}

/** After a request that failed, which may have been applied all the same. Where this fails too, the ttl frees the key. */
export function abandon(runner: ScriptRunner, script: RedisScript, held: Held): void {
  release(runner, script, held).catch(() => undefined);
}

/** `script` is the release of its kind. */
export function release(
  runner: ScriptRunner,
  script: RedisScript,
  { keys, value }: Held,
): Promise<boolean> {
  return runner.run(script, keys, [value], isOne);
}
