import { LockError } from '../contract/lock-errors.js';
import { quoted } from '../text/printable.js';

/** `LockService.drain` was called: the service takes on no new work. Nothing ran. */
export class LockDrainingError extends LockError {
  readonly code = 'LOCK_DRAINING';

  constructor(key: string) {
    super(`Lock ${quoted(key)} was not acquired: its LockService is being drained`, key);
  }
}
