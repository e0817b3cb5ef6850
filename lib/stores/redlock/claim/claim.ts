import { timeOfDay } from '../../../core/async/clock.js';
import { sleep, waitAtMost } from '../../../core/async/sleep.js';
import type { AcquireRequest, Lease } from '../../../core/contract/lock-store.js';
import { largestToken } from '../../../core/store/many-keys.js';
import { isGranted, isTrue } from '../vote/answers.js';
import type { NodeLeases } from './node-leases.js';
import { LONGEST_LAG } from '../vote/quorum.js';
import type { Quorum } from '../vote/quorum.js';
import { Stragglers } from './stragglers.js';

/** How often a waiter asks while the nodes still have the previous holder, and the milliseconds in between: each time more. */
const PATIENT_ROUNDS = 4;
const PATIENT_PAUSE = 4;

/** One attempt of one caller. */
export interface Claim {
  /** The request from core: reports name it. */
  readonly asked: AcquireRequest;
  /** The request that is sent. */
  readonly request: AcquireRequest;
  /** A waiter that its queue node has woken. It waits until the release of the previous holder has arrived at the other nodes. */
  readonly isPatient: boolean;
}

/**
 * Takes the keys at a majority of the nodes, as in the Redlock specification
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/), and agrees on a fencing token.
 * Resolves `undefined` when others hold them, rejects with `QuorumError`; in both cases everything has been given back.
 */
export async function take(
  quorum: Quorum,
  claim: Claim,
  leases: NodeLeases,
): Promise<bigint | undefined> {
  try {
    const token = await agree(quorum, claim, leases);
    if (token === undefined) leases.abandon();
    return token;
  } catch (error) {
    leases.abandon();
    throw error;
  }
}

async function agree(
  quorum: Quorum,
  claim: Claim,
  leases: NodeLeases,
): Promise<bigint | undefined> {
  const rounds = claim.isPatient ? PATIENT_ROUNDS : 1;
  for (let round = 1; ; round++) {
    const tokens = await askAll(quorum, claim, leases);
    if (tokens) return agreedToken(quorum, claim, leases, tokens);
    if (round === rounds) return undefined;
    await sleep(quorum.clock, Math.random() * PATIENT_PAUSE * round);
    if (leases.hasEnded) return undefined; // the caller has given up
  }
}

/**
 * Resolves with the counters of the nodes that granted the keys, a majority, or with `undefined`. All nodes are asked in a later
 * round, too: each grants again what it granted before, with counters that are equal once more. The queue node has granted its
 * key before, and is waited for: it has to be among the nodes that granted the keys, so that it can hand them over.
 */
async function askAll(
  quorum: Quorum,
  { asked, request }: Claim,
  leases: NodeLeases,
): Promise<readonly bigint[] | undefined> {
  leases.validUntil = quorum.clock.now() + request.ttl;
  const hinted = { ...request, fencingFloor: hint(request.fencingFloor) };
  const tokens: bigint[] = [];
  const awaited: Promise<unknown>[] = [];
  const stragglers = new Stragglers(quorum, leases);
  const outcome = await quorum.ask<Lease | undefined>(
    {
      ask: (node) => {
        const isGrantedBefore = leases.get(node) !== undefined;
        leases.delete(node); // the answer decides about it
        const answer = leases.ask(node, hinted);
        if (isGrantedBefore) awaited.push(answer);
        return answer;
      },
      isYes: isGranted,
      words: { yes: 'granted', no: 'held' },
      agreed: (node, lease, counts) => {
        if (counts) tokens.push(lease!.fencingToken ?? 0n);
        leases.set(node, lease!);
      },
      answered: (node) => leases.answered(node),
      refused: (node) => stragglers.refused(node),
    },
    request.ttl,
    asked,
  );
  if (outcome !== 'yes') return undefined;
  for (const node of quorum.nodes) if (!leases.expected(node)) stragglers.refused(node); // or was not asked
  stragglers.granted({ ...request, fencingFloor: largestToken(tokens) });
  if (awaited.length > 0) await waitAtMost(quorum.clock, LONGEST_LAG, Promise.all(awaited));
  return tokens;
}

/**
 * The token is the largest counter of a majority. Unless a majority has exactly that one, the others are raised to it, if the key
 * is still ours and the counter is not beyond it. The next majority has a node in common with this one, and so a larger counter.
 * A counter beyond it is that of a late grant, and confirms nothing. See `test/model`.
 */
async function agreedToken(
  quorum: Quorum,
  { asked, request }: Claim,
  leases: NodeLeases,
  tokens: readonly bigint[],
): Promise<bigint | undefined> {
  if (!quorum.fences) return 0n;
  const token = largestToken(tokens);
  if (tokens.filter((each) => each === token).length >= quorum.majority) return token;
  return (await raise(quorum, leases, token, request.ttl, asked)) ? token : undefined;
}

/** Resolves whether a majority has at least `token` now, and still knows the keys as ours. */
async function raise(
  quorum: Quorum,
  leases: NodeLeases,
  token: bigint,
  ttl: number,
  asked: AcquireRequest,
): Promise<boolean> {
  const outcome = await quorum.ask<boolean>(
    {
      ask: (node) => {
        const lease = leases.get(node);
        if (!lease) return undefined;
        if (lease.raiseFencing) return lease.raiseFencing({ from: token, to: token });
        throw new Error(`its leases cannot raise a fencing counter (${node.store.name})`);
      },
      isYes: isTrue,
      words: { yes: 'confirmed the fencing token', no: 'lost it' },
      deciding: quorum.refusal,
    },
    ttl,
    asked,
  );
  return outcome === 'yes';
}

/** The time of day in microseconds: if all nodes have lost a counter, it goes on from there. */
function hint(floor = 0n): bigint {
  return largestToken([BigInt(Math.round(timeOfDay() * 1_000)), floor]);
}
