import { TimerQueue } from '../../../../lib/core/async/timer-queue';
import { RedlockNode } from '../../../../lib/stores/redlock/node/redlock-node';
import { Vote } from '../../../../lib/stores/redlock/vote/vote';
import type { Question } from '../../../../lib/stores/redlock/vote/vote';
import { FakeClock } from 'nest-holdfast/testing';
import { deferred, watch } from '../../../core/support/outcome';
import type { Outcome } from '../../../core/support/outcome';
import { StubLink } from './stub-link';
import { StubNode } from './stub-node';

export const TIMEOUT = 50;

/** One vote, whose answers a test gives one by one. */
export class Ballot {
  readonly clock = new FakeClock(50_000);
  readonly links: readonly StubLink[];
  readonly nodes: readonly RedlockNode[];
  readonly outcome: Outcome<string>;
  /** The nodes that agreed, with whether that counted. */
  readonly agreed: [index: number, counts: boolean][] = [];
  readonly #timers = new TimerQueue(this.clock);
  readonly #vote: Vote<boolean>;
  readonly #answers = new Map<RedlockNode, ReturnType<typeof deferred<boolean>>>();

  constructor(
    count: number,
    question: Partial<Question<boolean>> = {},
    prepare: (node: RedlockNode, index: number, link: StubLink) => void = () => undefined,
  ) {
    this.links = Array.from({ length: count }, (_, index) => new StubLink(`${index}`, this.clock));
    this.nodes = this.links.map((link, index) => {
      const store = new StubNode(this.clock, link);
      const node = new RedlockNode(link.address, store, this.clock, () => undefined);
      prepare(node, index, link);
      return node;
    });
    const around = { nodes: this.nodes, clock: this.clock, timers: this.#timers };
    this.#vote = new Vote({ ...this.#question, ...question }, TIMEOUT, around);
    this.outcome = watch(this.#vote.outcome);
  }

  /** The indices of the nodes that were asked. */
  get asked(): number[] {
    return this.nodes.flatMap((node, index) => (this.#answers.has(node) ? index : []));
  }

  get said(): string[] {
    return this.#vote.report().nodes.map(({ said }) => said);
  }

  get ended(): string {
    return this.#vote.report().ended;
  }

  /** Timers that are still to run. */
  get timers(): number {
    return this.#timers.size;
  }

  async answer(index: number, answer: boolean | Error): Promise<void> {
    const { resolve, reject } = this.#answers.get(this.nodes[index]!)!;
    if (typeof answer === 'boolean') resolve(answer);
    else reject(answer);
    await new Promise((done) => setImmediate(done));
  }

  get #question(): Question<boolean> {
    return {
      ask: (node) => {
        const answer = deferred<boolean>();
        this.#answers.set(node, answer);
        return answer.promise;
      },
      isYes: (yes) => yes,
      words: { yes: 'granted', no: 'held' },
      agreed: (node, _, counts) => void this.agreed.push([this.nodes.indexOf(node), counts]),
    };
  }
}
