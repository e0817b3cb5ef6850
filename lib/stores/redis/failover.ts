import type { StoreDoubt } from '../../core/lock-store.js';
import type { ServerLink } from '../../core/server-link.js';

/**
 * Tells when the server behind a client may be another one than before, or the same one started again: a replica that was
 * promoted need not have heard of every lock, and a server that was started again has forgotten them.
 */
export function watchServer(link: ServerLink, tell: (doubt: StoreDoubt) => void): void {
  let known: string | undefined;
  const look = async () => {
    const { losses } = link;
    const runId = await runIdOf(link);
    if (link.losses !== losses) return; // the next connection is looked at in its turn
    const before = known;
    known = runId;
    if (losses > 0 && (runId === undefined || runId !== before))
      tell({ type: 'doubt', reason: whyDoubted(before, runId) });
  };
  link.onReady(() => void look());
}

/** Never rejects. A server may be forbidden to say. */
function runIdOf(link: ServerLink): Promise<string | undefined> {
  return link.vitals().then(
    ({ runId }) => runId,
    () => undefined,
  );
}

function whyDoubted(before: string | undefined, after: string | undefined): string {
  if (before === undefined || after === undefined)
    return 'reconnected, and it is not known whether to the same server as before';
  return `the server is another one than before, or was started again: its run_id was ${before}, and is ${after}`;
}
