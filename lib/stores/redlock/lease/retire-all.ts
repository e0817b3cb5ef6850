import type { NodeLeases } from '../claim/node-leases.js';
import { isStillOurs } from '../vote/answers.js';
import type { Quorum } from '../vote/quorum.js';

/** The holder was asked to stop: a majority keeps its keys for `ms` more. `false`: it has them no more. */
export async function retireAll(quorum: Quorum, leases: NodeLeases, ms: number): Promise<boolean> {
  const outcome = await quorum.ask<boolean | undefined>(
    {
      ask: (node) => leases.askHolder(node, (lease) => lease.retire?.(ms) ?? lease.extend(ms)),
      isYes: isStillOurs,
      words: { yes: 'retired', no: 'not held there' },
      deciding: quorum.refusal,
    },
    ms,
  );
  return outcome === 'yes';
}
