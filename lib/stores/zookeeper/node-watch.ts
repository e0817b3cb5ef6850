import type { Cancel } from '../../core/clock.js';
import { WATCH_AFTER } from '../../core/store/watch-delay.js';
import type { Session } from './session.js';
import type { Tenure } from './tenure.js';

/** Loses the tenure as soon as one of its nodes is gone. Returns what ends the watch. */
export function watchNodes(session: Session, tenure: Tenure): Cancel {
  const stop = new AbortController();
  const cancel = session.later(WATCH_AFTER, () => {
    for (const path of tenure.paths) void watchNode(session, tenure, path, stop.signal);
  });
  return () => {
    cancel();
    stop.abort();
  };
}

/** Never rejects. Where the server does not let it watch, the beats of the session look after the node. */
async function watchNode(
  session: Session,
  tenure: Tenure,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    while (!signal.aborted) {
      await session.ready({ signal });
      await session.attempt(async ({ watches }) => {
        await watches.untilNode(path, Infinity, signal);
      });
      await session.attempt((connection) => tenure.lookAfter(connection));
    }
  } catch {
    // refused, or ended by `signal` or with the session
  }
}
