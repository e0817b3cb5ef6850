import type { SilenceWatch } from '../../../redis-client/silence-watch.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';
import { LockCalls } from './lock-calls.js';
import { ScriptRunner } from './script-runner.js';
import type { ReplicaOptions } from './script-runner.js';
import type { TakeBacks } from './take-backs.js';

interface CallOptions {
  readonly client: RedisClient;
  readonly replicas: ReplicaOptions;
  readonly batchWrites: boolean;
  readonly slotOf: (key: string) => number;
  /** Is told when the server is asked. */
  readonly silence: Pick<SilenceWatch, 'asked' | 'isAsked'>;
}

/** How one store sends its scripts, and its locks together. */
interface StoreCalls {
  readonly runner: ScriptRunner;
  readonly lockCalls: LockCalls;
}

/** Locks are gathered, unless the replicas are to acknowledge each lock separately. */
export function storeCalls(
  { client, replicas, batchWrites, slotOf, silence }: CallOptions,
  takeBacks: TakeBacks,
): StoreCalls {
  const runner = new ScriptRunner(client, replicas, batchWrites, slotOf, silence);
  const gathers = batchWrites && replicas.replicas === 0;
  const direct = new ScriptRunner(client, replicas, false, slotOf, silence); // for calls that are batched already
  const lockCalls = new LockCalls(gathers ? direct : runner, slotOf, gathers, takeBacks);
  runner.sendFirst(() => lockCalls.send());
  return { runner, lockCalls };
}
