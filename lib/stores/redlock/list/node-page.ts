import { waitAtMost } from '../../../core/async/sleep.js';
import type { LockListQuery, LockPage } from '../../../core/contract/lock-inspection.js';
import type { NodeReport } from '../../../core/contract/lock-store.js';
import { checkPage } from '../../../core/contract/store-answers.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
import type { Quorum } from '../vote/quorum.js';

/** Milliseconds for a node to answer: a page may take many commands. */
const TIMEOUT = 2_000;

/** A page of one node's list, or why there is none. */
export async function pageOf(
  { nodes, clock }: Quorum,
  index: number,
  query: LockListQuery,
): Promise<LockPage | NodeReport> {
  const { name, store, unreachable } = nodes[index]!;
  if (unreachable !== undefined) return { node: name, said: unreachable };
  let answer: LockPage | NodeReport = { node: name, said: 'timeout' };
  const asked = (async () => {
    try {
      const page = await store.list!(query);
      checkPage(page);
      answer = page;
    } catch (error) {
      answer = { node: name, said: `error ${reasonOf(error)}` };
    }
  })();
  await waitAtMost(clock, TIMEOUT, asked);
  return answer;
}
