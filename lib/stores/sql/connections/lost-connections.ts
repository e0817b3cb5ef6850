import { makeRoom } from '../../../core/async/emitter-room.js';
import { systemClock } from '../../../core/async/clock.js';
import type { Cancel } from '../../../core/async/clock.js';
import { reasonOf } from '../../../core/contract/safe-error.js';

/** Milliseconds in which lost connections count as one loss: a server that ends takes all of them. */
const MOMENT = 20;

interface PoolEvents {
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

/**
 * Calls `doubt` a moment after idle connections of a `pg.Pool` were lost, with the first error of that moment as the reason. Other
 * clients do not report such losses. Calling the result ends it.
 */
export function watchConnections(client: unknown, doubt: (reason: string) => void): Cancel {
  const pool = client as Partial<PoolEvents> | undefined;
  if (typeof pool?.on !== 'function' || typeof pool.off !== 'function') return () => {};
  let cancel: Cancel | undefined;
  const lost = (error: Error) => {
    // Afterwards, and not at once: a question sent then is sent after the last loss.
    cancel ??= systemClock.schedule(
      MOMENT,
      () => {
        cancel = undefined;
        doubt(`a connection to the server was lost: ${reasonOf(error)}`);
      },
      true,
    );
  };
  makeRoom(pool, 1);
  pool.on('error', lost);
  return () => {
    pool.off!('error', lost);
    makeRoom(pool, -1);
    cancel?.();
  };
}
