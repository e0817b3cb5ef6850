import type { StoreDoubt } from '../../../core/contract/lock-store.js';
import type { ServerLink } from '../../../core/contract/server-link.js';

/**
 * Tells when the server behind a client may be another one than before, or may have restarted: a promoted replica may miss some
 * locks, and a restarted server has forgotten them.
 */
export function watchServer(link: ServerLink, tell: (doubt: StoreDoubt) => void): void {
  let known: string | undefined;
  const first = link.losses;
  const look = async () => {
    const { losses } = link;
    const runId = await runIdOf(link);
    if (link.losses !== losses) return; // the next connection gets its own look
    const before = known;
    known = runId;
    if (losses > first && (runId === undefined || runId !== before))
      tell({ type: 'doubt', reason: whyDoubted(before, runId) });
  };
  link.onReady(() => void look());
}

/** Never rejects. A server may forbid the command. */
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
