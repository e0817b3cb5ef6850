import type { ServerWatches } from '../failover/server-watches.js';
import type { SentAgain } from '../failover/sent-again.js';
import type { TakeBacks } from '../send/take-backs.js';
import type { LockNames } from '../keys/named-lock.js';
import type { LockCalls } from '../send/lock-calls.js';
import type { ScriptRunner } from '../send/script-runner.js';
import type { StoreExtensions } from '../send/store-extensions.js';
import type { StrictQueue } from '../queue/strict-queue.js';
import type { FreeMoments } from '../queue/free-moments.js';
import type { LocalHandoffs } from '../queue/local-handoffs.js';

/** Shared by the leases of one store. */
export interface LeaseContext extends StoreExtensions {
  readonly runner: ScriptRunner;
  readonly names: LockNames;
  readonly lockCalls: LockCalls;
  readonly takeBacks: TakeBacks;
  readonly sentAgain: SentAgain;
  /** Its clocks are told of each lock that may be held. */
  readonly watches: Pick<ServerWatches, 'clocks'>;
  /** As `clocks.holds`, for a lock that is kept: its store listens from now on for what happens to its locks. */
  readonly keeps: (ttl: number) => void;
  /** Missing where the store has no queue. */
  readonly freeMoments: FreeMoments | undefined;
  /** Set where every caller has a place in the server's line. */
  readonly strictQueue: StrictQueue | undefined;
  /** Missing where the store has no queue. */
  readonly handoffs: LocalHandoffs | undefined;
}
