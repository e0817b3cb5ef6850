import type { Clock } from '../../../core/async/clock.js';
import type { NodeReport, QuorumReport } from '../../../core/contract/lock-store.js';
import type { QueuedTimer, TimerQueue } from '../../../core/async/timer-queue.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
import type { RedlockNode } from '../node/redlock-node.js';

/** `yes`: a majority agrees. `no`: enough nodes answered, and it does not. `failed`: too few of them answered. */
export type Outcome = 'yes' | 'no' | 'failed';

/** A question to all nodes at once. */
export interface Question<Answer> {
  /** `undefined`: no, without asking. */
  readonly ask: (node: RedlockNode) => Promise<Answer> | undefined;
  /** Throws for a malformed answer: the node has then failed. */
  readonly isYes: (answer: Answer) => boolean;
  /** The answer of a node. */
  readonly words: { readonly yes: string; readonly no: string };
  /** How many refusals make a majority pointless. Missing: a majority that answers decides, whatever its answers. */
  readonly deciding?: number | undefined;
  /** Also asks nodes whose answer does not count, or that are not asked for a while: there is something to take back there. */
  readonly asksBarred?: boolean;
  /** Gets every yes, even one that does not count: the node has no vote, or the answer came too late. */
  readonly agreed?: (node: RedlockNode, answer: Answer, counts: boolean) => void;
  /** Gets every node that answered, even with an error. */
  readonly answered?: (node: RedlockNode) => void;
  /** Gets every node that answered otherwise. */
  readonly refused?: (node: RedlockNode) => void;
}

export interface VoteContext {
  readonly nodes: readonly RedlockNode[];
  readonly clock: Clock;
  readonly timers: TimerQueue;
}

/** More than half. */
export function majorityOf(nodes: readonly unknown[]): number {
  return Math.floor(nodes.length / 2) + 1;
}

/** How a vote ended: `2 of 5 nodes granted, 3 were needed`. */
export function endedWith(count: number, nodes: readonly unknown[], did: string): string {
  return `${count} of ${nodes.length} nodes ${did}, ${majorityOf(nodes)} were needed`;
}

/** How many more timeouts to wait for the first answer of all. */
const LONGER = 3;

/**
 * One question to all nodes in parallel, settled by the answer that decides it. Unanswered calls go on until `timeout` ms have
 * passed, which shows the nodes that are behind.
 */
export class Vote<Answer> {
  readonly outcome: Promise<Outcome>;
  readonly #question: Question<Answer>;
  readonly #context: VoteContext;
  readonly #said: (string | undefined)[];
  readonly #timer: QueuedTimer | undefined;
  readonly #timeout: number;
  #resolve!: (outcome: Outcome) => void;
  #decided: Outcome | undefined;
  readonly #counts: Record<Outcome, number> = { yes: 0, no: 0, failed: 0 };
  /** A node has answered, or the wait for the first answer is over. */
  #isHeard = false;

  constructor(question: Question<Answer>, timeout: number, context: VoteContext) {
    this.#question = question;
    this.#context = context;
    this.#timeout = timeout;
    const { nodes, timers, clock } = context;
    this.#said = nodes.map((): string | undefined => undefined);
    this.outcome = new Promise((resolve) => (this.#resolve = resolve));
    const due = clock.now() + timeout;
    nodes.forEach((node, index) => this.#ask(node, index));
    this.#decide();
    // Answers that arrived while this process was busy are read before any node counts as late.
    if (this.#pending > 0) this.#timer = timers.add(due, () => setImmediate(() => this.#timeUp()));
  }

  /** The count so far, for error messages. */
  report(): QuorumReport {
    const { nodes } = this.#context;
    const ended = endedWith(this.#counts.yes, nodes, this.#question.words.yes);
    return { ended, nodes: nodes.map((node, index) => this.#reportOf(node, index)) };
  }

  #reportOf({ name }: RedlockNode, index: number): NodeReport {
    return { node: name, said: this.#said[index] ?? 'no answer yet' };
  }

  get #pending(): number {
    const { yes, no, failed } = this.#counts;
    return this.#said.length - yes - no - failed;
  }

  #ask(node: RedlockNode, index: number): void {
    const { ask, words, asksBarred } = this.#question;
    const refusal = asksBarred ? node.overloaded : (node.unreachable ?? node.barred);
    if (refusal !== undefined) return this.#count(index, 'failed', refusal);
    const { losses } = node;
    let answer: Promise<Answer> | undefined;
    try {
      answer = ask(node);
    } catch (error) {
      return this.#count(index, 'failed', `error ${reasonOf(error)}`);
    }
    if (!answer) return this.#count(index, 'no', words.no);
    node.asked();
    answer.then(
      (value) => this.#answered(node, index, value, losses),
      (error: unknown) => this.#failed(node, index, error),
    );
  }

  #failed(node: RedlockNode, index: number, error: unknown): void {
    this.#hasAnswered(node, index);
    this.#tell(index, 'failed', `error ${reasonOf(error)}`);
  }

  #answered(node: RedlockNode, index: number, answer: Answer, losses: number): void {
    const { isYes, agreed, refused, words, asksBarred } = this.#question;
    let agrees: boolean;
    try {
      agrees = isYes(answer);
    } catch (error) {
      return this.#failed(node, index, error);
    }
    this.#hasAnswered(node, index);
    const doubt = asksBarred ? undefined : (node.barred ?? lostSince(node, losses));
    const counts = agrees && doubt === undefined && !this.#decided;
    if (agrees) agreed?.(node, answer, counts);
    else refused?.(node);
    if (doubt !== undefined) this.#tell(index, 'failed', doubt);
    else if (agrees) this.#tell(index, 'yes', words.yes);
    else this.#tell(index, 'no', words.no);
  }

  #hasAnswered(node: RedlockNode, index: number): void {
    this.#isHeard = true;
    this.#question.answered?.(node);
    node.answered(this.#said[index] === undefined);
  }

  /** A late answer does not count. */
  #tell(index: number, answer: Outcome, said: string): void {
    if (this.#said[index] !== undefined) return;
    this.#count(index, answer, said);
    this.#decide();
    if (this.#pending === 0 && this.#timer) this.#context.timers.remove(this.#timer);
  }

  #count(index: number, answer: Outcome, said: string): void {
    this.#said[index] = said;
    this.#counts[answer]++;
  }

  #decide(): void {
    this.#decided ??= this.#outcome;
    if (this.#decided) this.#resolve(this.#decided);
  }

  get #outcome(): Outcome | undefined {
    const { nodes } = this.#context;
    const majority = majorityOf(nodes);
    const { yes, no } = this.#counts;
    if (yes >= majority) return 'yes';
    const { deciding = Infinity } = this.#question;
    if (no >= deciding) return 'no';
    const pending = this.#pending;
    if (yes + pending >= majority) return undefined;
    if (deciding === Infinity && yes + no >= majority) return 'no';
    return yes + no + pending < majority || pending === 0 ? 'failed' : undefined;
  }

  #timeUp(): void {
    if (!this.#isHeard) return this.#waitOn();
    const silent = this.#context.nodes.filter((_, index) => this.#said[index] === undefined);
    const isSettledByOthers = this.#decided !== undefined;
    this.#said.forEach((said, index) => said ?? this.#count(index, 'failed', 'timeout'));
    this.#decide();
    for (const node of silent) node.missed(isSettledByOthers);
  }

  /** No node at all has answered: that says more about this process, or its network, than about the nodes. */
  #waitOn(): void {
    this.#isHeard = true;
    const { timers, clock } = this.#context;
    timers.move(this.#timer!, clock.now() + LONGER * this.#timeout);
  }
}

/** An answer that came on another connection may be that of another server. */
function lostSince(node: RedlockNode, losses: number): string | undefined {
  return node.losses === losses ? undefined : 'error the connection was lost meanwhile';
}
