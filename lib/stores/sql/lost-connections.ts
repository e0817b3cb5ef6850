import { makeRoom } from '../../core/async/emitter-room.js';
import { systemClock } from '../../core/clock.js';
import type { Cancel } from '../../core/clock.js';

/** Milliseconds in which connections that are lost count as one loss: a server that ends takes all of them. */
const MOMENT = 20;

interface PoolEvents {
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

/**
 * Calls `tell` a moment after idle connections of a `pg.Pool` were lost, with the first error of that moment. Of other clients
 * it hears nothing. Returns what ends it.
 */
export function watchConnections(client: unknown, tell: (error: Error) => void): Cancel {
  const pool = client as Partial<PoolEvents> | undefined;
  if (typeof pool?.on !== 'function' || typeof pool.off !== 'function') return () => {};
  let cancel: Cancel | undefined;
  const lost = (error: Error) => {
    // Afterwards, and not at once: what is asked then is asked after the last loss.
    cancel ??= systemClock.schedule(
      MOMENT,
      () => {
        cancel = undefined;
        tell(error);
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
