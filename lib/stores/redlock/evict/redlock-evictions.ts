import { waitAtMost } from '../../../core/async/sleep.js';
import type {
  AcquireRequest,
  EvictRequest,
  EvictingStore,
  HolderAnswer,
  Lease,
  LockStore,
  NamedHolder,
  StoreNotice,
} from '../../../core/contract/lock-store.js';
import { checkHolderAnswer } from '../../../core/contract/store-answers.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
import type { RedlockNode } from '../node/redlock-node.js';
import { QuorumError } from '../vote/quorum.js';
import type { Quorum } from '../vote/quorum.js';
import { endedWith } from '../vote/vote.js';
import { agreedAnswer } from './agreed-answer.js';

/** Milliseconds for the nodes to answer. */
const TIMEOUT = 1_000;

type Evicting = Required<EvictingStore>;
/** A node that did not answer has no `answer`. */
interface Said {
  readonly said: string;
  readonly answer?: HolderAnswer;
}

type Tell = (notice: StoreNotice) => void;

export function canEvict(store: LockStore): boolean {
  return typeof store.evict === 'function' && typeof store.askHolder === 'function';
}

/** News of one node's own server concerns no majority, except that a holder was evicted. */
export function onlyRevocations(tell: Tell): Tell {
  return (notice) => {
    if (notice.type === 'revoked') tell(notice);
  };
}

/**
 * Takes keys from their holders at a majority of the nodes. A node that refuses, or is away, keeps the key for the holder, whose
 * next extension has no majority and frees it there.
 */
export class RedlockEvictions {
  readonly #quorum: Quorum;
  readonly #claim: (request: AcquireRequest) => Promise<Lease | undefined>;

  /** `claim`: an ordinary attempt. */
  constructor(quorum: Quorum, claim: (request: AcquireRequest) => Promise<Lease | undefined>) {
    this.#quorum = quorum;
    this.#claim = claim;
  }

  async ask(named: NamedHolder, grace: number): Promise<HolderAnswer> {
    const said = await this.#askAll((store) => store.askHolder(named, grace));
    return agreedAnswer(this.#answersOf(said), this.#quorum.majority);
  }

  /** Rejects with `QuorumError` when too few nodes answer: the holder may have been evicted. */
  async take(request: EvictRequest): Promise<HolderAnswer> {
    let isRefused = false;
    const said = await this.#askAll(async (store) => {
      const answer = await store.evict(request);
      if (isRefused) giveBack(answer);
      return answer;
    });
    const answer = agreedAnswer(this.#answersOf(said, () => (isRefused = true)), this.#quorum.majority); // prettier-ignore
    if (answer.state !== 'taken') {
      isRefused = true;
      for (const each of said) giveBack(each.answer);
      return answer;
    }
    await this.#takeRest(request, said);
    return { ...answer, taken: await this.#claimed(request) };
  }

  /**
   * The counter of a node that granted the key late is not the token that the majority agreed on. It tells the evicted holder by its
   * owner. Left there, the key would keep the waiters that queue at this node waiting until its ttl is over.
   */
  async #takeRest(request: EvictRequest, said: readonly Said[]): Promise<void> {
    const evicted = said.find(({ answer }) => answer?.state === 'taken')!.answer!.owner;
    if (evicted === undefined) return;
    const { nodes } = this.#quorum;
    const rest = nodes.flatMap((node, index) => {
      const { state, owner, fencingToken } = said[index]!.answer ?? {};
      return state !== 'taken' && owner === evicted && fencingToken !== undefined
        ? { node, fencingToken }
        : [];
    });
    const all = rest.map(({ node, fencingToken }) =>
      askNode(node, (store) => store.evict({ ...request, fencingToken })),
    );
    await waitAtMost(this.#quorum.clock, TIMEOUT, Promise.all(all));
  }

  /** The nodes that have given the key to the request grant it again, and agree on a fencing token. */
  async #claimed({ fencingToken: _, ...request }: EvictRequest): Promise<Lease> {
    const lease = await this.#claim(request);
    if (!lease) throw new Error('the holder was evicted, but no majority has granted the key');
    return lease;
  }

  async #askAll(ask: (store: Evicting) => Promise<HolderAnswer>): Promise<readonly Said[]> {
    const { nodes, clock } = this.#quorum;
    const said = nodes.map((): Said => ({ said: 'timeout' }));
    const all = nodes.map(async (node, index) => {
      said[index] = await askNode(node, ask);
    });
    await waitAtMost(clock, TIMEOUT, Promise.all(all));
    return [...said];
  }

  /** Of the nodes that answered. `failed` is called before it throws. */
  #answersOf(said: readonly Said[], failed?: () => void): readonly HolderAnswer[] {
    const { nodes, majority } = this.#quorum;
    const answers = said.flatMap(({ answer }) => answer ?? []);
    if (answers.length >= majority) return answers;
    failed?.();
    answers.forEach(giveBack);
    const reports = nodes.map(({ name }, index) => ({ node: name, said: said[index]!.said }));
    throw new QuorumError({ ended: endedWith(answers.length, nodes, 'answered'), nodes: reports });
  }
}

/** Never rejects. */
async function askNode(
  { store, unreachable, barred }: RedlockNode,
  ask: (store: Evicting) => Promise<HolderAnswer>,
): Promise<Said> {
  const refusal = unreachable ?? barred;
  if (refusal !== undefined) return { said: refusal };
  try {
    const answer = await ask(store as Evicting);
    checkHolderAnswer(answer);
    return { said: answer.state, answer };
  } catch (error) {
    return { said: `error ${reasonOf(error)}` };
  }
}

/** Never rejects: the ttl frees the key. */
function giveBack(answer: HolderAnswer | undefined): void {
  answer?.taken?.release().catch(() => undefined);
}
