import { sleep } from '../../../core/async/clock.js';
import type { LockInspection } from '../../../core/contract/lock-store.js';
import { checkInspection } from '../../../core/contract/store-answers.js';
import { largestToken } from '../../../core/store/many-keys.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
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

function agreedOn(key: string, seen: readonly LockInspection[], majority: number): LockInspection {
  const ends = seen.map(({ remaining = Infinity }) => remaining).toSorted((a, b) => b - a);
  const tokens = seen.flatMap(({ fencingToken }) => fencingToken ?? []);
  return {
    key,
    holder: seen[0]!.holder,
    remaining: ends[majority - 1],
    fencingToken: tokens.length > 0 ? largestToken(tokens) : undefined,
  };
}

async function askAll({ nodes, clock }: Quorum, key: string): Promise<Answer[]> {
  const late = new AbortController();
  const timeout = sleep(clock, TIMEOUT, late.signal).then(() => ({ said: 'timeout' }));
  const asked = nodes.map(async ({ store, unreachable }): Promise<Answer> => {
    if (unreachable !== undefined) return { said: unreachable };
    try {
      const seen = await store.inspect?.(key);
      checkInspection(seen);
      return { said: 'answered', seen };
    } catch (error) {
      return { said: `error ${reasonOf(error)}` };
    }
  });
  const answers = await Promise.all(asked.map((answer) => Promise.race([answer, timeout])));
  late.abort();
  return answers;
}
