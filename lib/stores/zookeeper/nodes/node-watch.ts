import type { Cancel } from '../../../core/async/clock.js';
import { WATCH_AFTER } from '../../../core/store/watch-delay.js';
import type { Session } from '../session/session.js';
import type { NodeLifetime } from '../session/node-lifetime.js';

/** Ends the lifetime as soon as one of its nodes is gone. Calling the result ends the watch. */
export function watchNodes(session: Session, lifetime: NodeLifetime): Cancel {
  const stop = new AbortController();
  const cancel = session.later(WATCH_AFTER, () => {
    for (const path of lifetime.paths) void watchNode(session, lifetime, path, stop.signal);
  });
  return () => {
    cancel();
    stop.abort();
  };
}

/** Never rejects. If the server refuses the watch, the heartbeats of the session check the node. */
async function watchNode(
  session: Session,
  lifetime: NodeLifetime,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    while (!signal.aborted) {
      await session.ready({ signal });
      await session.attempt(async ({ watches }) => {
        await watches.untilNode(path, Infinity, signal);
      });
      await session.attempt((connection) => lifetime.lookAfter(connection));
    }
  } catch {
    // refused, or ended by `signal` or with the session
  }
}
