import { waitAtMost } from '../../../core/async/sleep.js';
import type { LockInspection, NodeCount } from '../../../core/contract/lock-store.js';
import { checkInspection } from '../../../core/contract/store-answers.js';
import { largestToken } from '../../../core/store/many-keys.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
import type { RedlockNode } from '../node/redlock-node.js';
import { QuorumError } from './quorum.js';
import type { Quorum } from './quorum.js';
import { endedWith } from './vote.js';

/** Milliseconds for the nodes to answer. */
const TIMEOUT = 500;

type Answer = { readonly said: string; readonly seen?: LockInspection | undefined };

/** The holder that a majority of the nodes names, with the time for which a majority keeps its key. */
export async function inspectAll(quorum: Quorum, key: string): Promise<LockInspection | undefined> {
  const answers = await askAll(quorum, key);
  const seen = answers.filter(({ said }) => said === 'answered').map((answer) => answer.seen);
  if (seen.length < quorum.majority) {
    const ended = endedWith(seen.length, quorum.nodes, 'answered');
    const nodes = quorum.nodes.map(({ name }, index) => ({
      node: name,
      said: answers[index]!.said,
    }));
    throw new QuorumError({ ended, nodes });
  }
  const held = seen.filter((each) => each !== undefined);
  const ours = held.filter(
    ({ holder }) => held.filter((each) => each.holder === holder).length >= quorum.majority,
  );
  return ours.length === 0 ? undefined : agreedOn(key, ours, quorum.majority);
}

/** Those that answer, and have a vote. */
export async function countNodes(quorum: Quorum): Promise<NodeCount> {
  const answers = await askAll(quorum, 'holdfast:health');
  const isUp = (node: RedlockNode, index: number) =>
    answers[index]!.said === 'answered' && node.barred === undefined;
  const { nodes, majority } = quorum;
  return { up: nodes.filter(isUp).length, needed: majority, total: nodes.length };
}

function agreedOn(key: string, seen: readonly LockInspection[], majority: number): LockInspection {
  const ends = seen.map(({ remaining = Infinity }) => remaining).toSorted((a, b) => b - a);
  const tokens = seen.flatMap(({ fencingToken }) => fencingToken ?? []);
  const ages = seen.flatMap(({ heldFor }) => heldFor ?? []);
  return {
    key,
    holder: seen[0]!.holder,
    remaining: ends[majority - 1],
    heldFor: ages.length > 0 ? Math.min(...ages) : undefined,
    fencingToken: tokens.length > 0 ? largestToken(tokens) : undefined,
    ...longestQueue(seen),
  };
}

/** Callers wait at one node, the same in every process, as long as they agree on it. */
function longestQueue(
  seen: readonly LockInspection[],
): Pick<LockInspection, 'waiters' | 'waiterCount'> {
  const queues = seen.filter(({ waiters }) => waiters !== undefined);
  const [longest] = queues.toSorted((a, b) => (b.waiterCount ?? 0) - (a.waiterCount ?? 0));
  return longest ? { waiters: longest.waiters, waiterCount: longest.waiterCount } : {};
}

async function askAll({ nodes, clock }: Quorum, key: string): Promise<readonly Answer[]> {
  const answers = nodes.map((): Answer => ({ said: 'timeout' }));
  const asked = nodes.map(async (node, index) => {
    answers[index] = await askNode(node, key);
  });
  await waitAtMost(clock, TIMEOUT, Promise.all(asked));
  return [...answers];
}

async function askNode({ store, unreachable }: RedlockNode, key: string): Promise<Answer> {
  if (unreachable !== undefined) return { said: unreachable };
  try {
    const seen = await store.inspect?.(key);
    checkInspection(seen);
    return { said: 'answered', seen };
  } catch (error) {
    return { said: `error ${reasonOf(error)}` };
  }
}
