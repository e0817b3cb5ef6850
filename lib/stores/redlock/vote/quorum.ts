import type { Clock } from '../../../core/async/clock.js';
import type { AcquireRequest, QuorumReport } from '../../../core/contract/lock-store.js';
import { TimerQueue } from '../../../core/async/timer-queue.js';
import type { RedlockNode } from '../node/redlock-node.js';
import { Vote, majorityOf } from './vote.js';
import type { Outcome, Question, VoteContext } from './vote.js';

/** Bounds of the default for `nodeTimeout`, in milliseconds, and its part of the ttl. */
const SHORTEST = 5;
const LONGEST = 50;
const PART_OF_TTL = 0.05;
/** Milliseconds by which the answer of a live node may come after those of the others. */
export const LONGEST_LAG = 100;

/** Too few nodes answered. Only seen as the `cause` of a `LockStoreError`. */
export class QuorumError extends Error {
  readonly #report: QuorumReport;

  constructor(report: QuorumReport) {
    super('no majority');
    this.name = 'QuorumError';
    this.#report = report;
  }

  get report(): QuorumReport {
    return this.#report;
  }
}

/** The nodes, and how they are asked. */
export class Quorum implements VoteContext {
  readonly nodes: readonly RedlockNode[];
  readonly clock: Clock;
  readonly timers: TimerQueue;
  readonly majority: number;
  /** This many refusals leave no majority. */
  readonly refusal: number;
  /** Whether all nodes have fencing tokens, so that a majority can agree on one. */
  readonly fences: boolean;
  readonly #nodeTimeout: number | undefined;
  readonly #lastVotes = new WeakMap<AcquireRequest, Pick<Vote<never>, 'report'>>();

  constructor(nodes: readonly RedlockNode[], clock: Clock, nodeTimeout: number | undefined) {
    this.nodes = nodes;
    this.clock = clock;
    this.timers = new TimerQueue(clock);
    this.majority = majorityOf(nodes);
    this.refusal = nodes.length - this.majority + 1;
    this.fences = nodes.every(({ store }) => store.supports.fencing);
    this.#nodeTimeout = nodeTimeout;
  }

  /** Asks all nodes. Rejects with `QuorumError` when too few of them answer. */
  async ask<Answer>(
    question: Question<Answer>,
    ttl: number,
    request?: AcquireRequest,
  ): Promise<Exclude<Outcome, 'failed'>> {
    const vote = new Vote(question, this.#timeoutFor(ttl), this);
    const askedAt = this.clock.now();
    const outcome = await vote.outcome;
    const isInTime = outcome === 'yes' && this.clock.now() - askedAt < ttl / 2;
    if (request && !isInTime) this.#lastVotes.set(request, vote); // success needs no explanation later
    if (outcome === 'failed') throw new QuorumError(vote.report());
    return outcome;
  }

  /** The outcome of the last vote on `request`, and what is wrong with a node by now. */
  report(request: AcquireRequest): QuorumReport | undefined {
    const report = this.#lastVotes.get(request)?.report();
    if (!report) return undefined;
    const now = this.nodes.map(({ unreachable, barred }) => unreachable ?? barred);
    const nodes = report.nodes.map(({ node, said }, index) => ({ node, said: now[index] ?? said }));
    return { ...report, nodes };
  }

  #timeoutFor(ttl: number): number {
    return this.#nodeTimeout ?? Math.min(LONGEST, Math.max(SHORTEST, ttl * PART_OF_TTL));
  }
}
