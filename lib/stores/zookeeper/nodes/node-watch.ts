import { setMaxListeners } from 'node:events';
import type { Cancel } from '../../../core/async/clock.js';
import { WATCH_AFTER } from '../../kit/watch-delay.js';
import { readHolder } from '../../kit/asked-holder.js';
import type { Session } from '../session/session.js';
import type { NodeLifetime } from '../session/node-lifetime.js';

/** An eviction asks the holder of a node to stop within `grace` ms. */
type Asked = (path: string, grace: number) => void;

/**
 * Ends the lifetime as soon as one of its nodes is gone, and calls `asked`, perhaps repeatedly, when an eviction has written to one.
 * Calling the result ends the watch.
 */
export function watchNodes(session: Session, lifetime: NodeLifetime, asked: Asked): Cancel {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // one for each node
  const cancel = session.later(WATCH_AFTER, () => {
    for (const path of lifetime.paths) void watchNode(session, lifetime, path, asked, stop.signal);
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
  asked: Asked,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (let seen = 0; !signal.aborted;) {
      await session.ready({ signal });
      await session.attempt(async ({ watches }) => {
        seen = await watches.untilNode(path, seen, signal);
      });
      await session.attempt(async (connection) => {
        const content = (await lifetime.lookAfter(connection)).get(path);
        const { grace } = readHolder(content?.data.toString() ?? '');
        if (grace !== undefined && !signal.aborted) asked(path, grace);
      });
    }
  } catch {
    // refused, or ended by `signal` or with the session
  }
}
