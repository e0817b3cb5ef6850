import type { Extensions } from './extensions.js';
import type { SentAgain } from './failover/sent-again.js';
import type { TakeBacks } from './failover/take-backs.js';
import type { HeldNames } from './held.js';
import type { LockCalls } from './lock-calls.js';
import type { ScriptRunner } from './script-runner.js';
import type { Tenures } from './tenures.js';

/** What the leases of one store share. */
export interface LeaseSurroundings {
  readonly runner: ScriptRunner;
  readonly names: HeldNames;
  readonly lockCalls: LockCalls;
  readonly takeBacks: TakeBacks;
  readonly sentAgain: SentAgain;
  /** A lock may be held for `ttl` ms from now. */
  readonly holds: (ttl: number) => void;
  readonly extensions: Extensions;
  /** Of those who share a lock. */
  readonly sharedExtensions: Extensions;
  /** Make leases of the claims of those who share a lock. */
  readonly sharedConfirmations: Extensions;
  /** Missing where nobody can stand in line. */
  readonly tenures: Tenures | undefined;
}
