import { ALL_KEYS, LOCKS, LOCKS_AND_SHARERS } from '../keys/named-lock.js';
import { EXTEND } from '../lua/lease-scripts.js';
import { CONFIRM_SHARED, EXTEND_SHARED } from '../lua/sharing-scripts.js';
import { Extensions } from './extensions.js';
import type { ScriptRunner } from './script-runner.js';
import { SeparateExtensions } from './separate-extensions.js';

/** How the leases of one store are extended. */
export interface StoreExtensions {
  readonly extensions: Extensions;
  /** For sharers. */
  readonly sharedExtensions: Pick<Extensions, 'extend'>;
  /** Turn sharers' claims into leases. */
  readonly sharedConfirmations: Extensions;
}

/** A single server extends the leases of one turn of the event loop together, a Cluster extends each by a call of its own. */
export function storeExtensions(runner: ScriptRunner, isOneServer: boolean): StoreExtensions {
  const ofSharers = new Extensions(runner, isOneServer, EXTEND_SHARED, LOCKS_AND_SHARERS);
  return {
    extensions: new Extensions(runner, isOneServer, EXTEND, LOCKS),
    sharedExtensions: isOneServer ? ofSharers : new SeparateExtensions(runner, ofSharers),
    sharedConfirmations: new Extensions(runner, isOneServer, CONFIRM_SHARED, ALL_KEYS),
  };
}
