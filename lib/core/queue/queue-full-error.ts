import { LockError } from '../contract/lock-errors.js';
import { quoted } from '../text/printable.js';

/** Too many callers of this process wait already. Nothing ran, and nothing was asked of the store. */
export class LockQueueFullError extends LockError {
  readonly code = 'LOCK_QUEUE_FULL';

  constructor(
    key: string,
    /** The option that refused: for the key, or for all keys of the service. */
    readonly limit: 'maxWaiting' | 'maxWaitingTotal',
    /** Its value. */
    readonly most: number,
  ) {
    const what = limit === 'maxWaiting' ? 'it' : 'locks of this service';
    super(
      `Lock ${quoted(key)} was not acquired: ${most} callers wait for ${what} already (${limit})`,
      key,
    );
  }
}
