import { LockPermitsError } from '../../../core/contract/lock-errors.js';
import type {
  AcquireRequest,
  LockInspection,
  LockListQuery,
  LockPage,
} from '../../../core/contract/lock-store.js';
import { MOST_WAITERS } from '../../../core/list/most-waiters.js';
import type { KeyValue, TxnResponse } from '../client/etcd-client.js';
import type { EtcdKeys } from '../keys/etcd-keys.js';
import type { Call, EtcdMembers } from '../client/etcd-members.js';
import { isSessionGone } from '../client/etcd-refusal.js';
import type { EtcdSessions } from '../session/etcd-sessions.js';
import * as transactions from './etcd-transactions.js';
import { inspectionOf } from './inspection.js';
import { listQueues } from './list-queues.js';
import { NodeCreation, kvsOf } from './node-creation.js';
import type { Place } from './node-creation.js';
import type { NodeContent } from './node-value.js';
import { otherPermits } from '../../kit/place-in-queue.js';
import { queueOf, positionOf } from './queue-position.js';
import type { Position } from './queue-position.js';
import { afterRefusal } from './refused-attempt.js';
import { READERS } from '../../../core/sharing/hold-mode.js';

/** A place in one queue. */
export interface Joined {
  readonly place: Place;
  readonly position: Position;
  /** The sharers before it use these other permits. */
  readonly inUse: number | undefined;
}

/** How often an attempt on a shared key may be overtaken before it joins the queue. */
const OVERTAKEN = 1;

/** The nodes of a store's contenders, and the calls to etcd for them. */
export class EtcdNodes {
  readonly #members: EtcdMembers;
  readonly #keys: EtcdKeys;
  readonly #creation: NodeCreation;

  constructor(members: EtcdMembers, sessions: EtcdSessions, keys: EtcdKeys) {
    this.#members = members;
    this.#keys = keys;
    this.#creation = new NodeCreation(members, sessions, keys);
  }

  /**
   * Creates all nodes in one transaction, if each holds its key at once. `undefined`: one would not. Rejects with
   * `LockPermitsError` when a holder shares a key with other permits.
   */
  async take(request: AcquireRequest): Promise<Place | undefined> {
    const queues = request.keys.map((key) => this.#keys.queue(key));
    let seen: bigint | undefined;
    let overtaken = 0;
    const taken = await this.#creation.create(request, queues, {
      transaction: (made) => transactions.takeAll(queues, made, seen),
      created: (place): Place | LockPermitsError | 'crowded' | undefined => place,
      refused: (session, content, answer) => {
        const waiting = queues.map((_, index) => queueOf(kvsOf(answer, index)));
        const result = afterRefusal(request, session.id, queues, waiting);
        if (result === 'again') seen = BigInt(answer.header.revision);
        if (result === 'again' && queues.length === 1 && ++overtaken > OVERTAKEN) return 'crowded';
        if (!result || result === 'again' || result instanceof LockPermitsError) return result;
        const nodes = result.map(({ key }) => key);
        const token = BigInt(answer.header.revision);
        return { session, nodes, revision: result[0]!.revision, token, content };
      },
    });
    if (taken instanceof LockPermitsError) throw taken;
    return taken === 'crowded' ? this.#joinIfItHolds(request) : taken;
  }

  /** Creates a node at the end of the queue. */
  join(request: AcquireRequest): Promise<Joined> {
    const queue = this.#keys.queue(request.key);
    return this.#creation.create<Joined>(request, [queue], {
      transaction: (made) => transactions.join(queue, made),
      created: (place, answer) => {
        const before = queueOf(kvsOf(answer, 1)).filter(
          ({ revision }) => revision < place.revision,
        );
        const position = positionOf(queue, before, place.content, [], place.revision);
        const inUse = otherPermits([...before, place.content], before.length);
        return { place, position, inUse };
      },
      refused: () => 'again',
    });
  }

  /** The place in its queue, and the revision at which it was read. */
  async look(
    key: string,
    place: Place,
    signal: AbortSignal,
  ): Promise<Position & { readonly at?: bigint }> {
    const queue = this.#keys.queue(key);
    const { session, content, nodes, revision } = place;
    const own = { key: nodes[0]!, session: session.id, revision, content };
    const txn = transactions.look(queue, own);
    const answer = await this.#members.insist((client, o) => client.kv.txn(txn, o), signal);
    if (!answer.succeeded) return { state: 'gone' };
    const [before, behind] = [0, 1].map((index) => queueOf(kvsOf(answer, index)));
    const at = BigInt(answer.header.revision);
    return { ...positionOf(queue, before!, content, behind!, at), at };
  }

  /** Tells the waiters right behind it. At the latest they notice when the node ends. */
  tellNext(place: Place): void {
    this.#rewrite(place, place.content).catch(() => {});
  }

  /** Turns a writer into a reader. Asks until it knows whether all nodes were still there, or the session is lost. */
  downgrade(place: Place): Promise<boolean> {
    return this.#rewrite(place, { ...place.content, permits: READERS });
  }

  /** Whether all nodes are still there. Asks until it knows, or the session is lost. */
  async confirm({ session, nodes, revision }: Place): Promise<boolean> {
    const txn = transactions.confirm(nodes, revision, session.id);
    const answer = await this.#members.insist((client, o) => client.kv.txn(txn, o), session.lost);
    return answer.succeeded;
  }

  /**
   * The revision at which all nodes were still there, and one of them, if it is asked for. `undefined`: one is gone. Asks until
   * it knows, whatever etcd answers meanwhile. Rejects with the reason of `signal`.
   */
  async seenAt(
    { session, nodes, revision }: Place,
    signal: AbortSignal,
    read?: Buffer,
  ): Promise<{ readonly at: bigint; readonly node: KeyValue | undefined } | undefined> {
    const txn = transactions.confirm(nodes, revision, session.id, read);
    const look: Call<TxnResponse> = (client, options) => client.kv.txn(txn, options);
    const answer = await this.#members.insist(look, signal, () => false);
    if (!answer.succeeded) return undefined;
    return { at: BigInt(answer.header.revision), node: kvsOf(answer, 0)[0] };
  }

  /**
   * Deletes the nodes. Asks until it is done, or the session is lost, whatever etcd answers meanwhile: nothing else would free
   * the key. Resolves whether all of them were still there.
   */
  async leave({ session, nodes, revision }: Place): Promise<boolean> {
    const txn = transactions.leave(nodes, revision, session.id);
    let isRepeated = false;
    const leave: Call<boolean> = (client, options) => {
      const repeats = isRepeated; // an earlier request may have deleted them, and its answer was lost
      isRepeated = true;
      return client.kv.txn(txn, options).then((reply) => repeats || allSucceeded(reply));
    };
    try {
      return await this.#members.insist(leave, session.lost, isSessionGone);
    } catch (error) {
      if (isSessionGone(error)) session.lose('etcd does not know it');
      if (session.isLost) return false;
      throw error;
    }
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    const range = { request_range: transactions.allNodes(this.#keys.queue(key)) };
    const txn = { compare: [], success: [range], failure: [] };
    const answer = await this.#members.ask((client, o) => client.kv.txn(txn, o));
    const revision = BigInt(answer.header.revision);
    return inspectionOf(key, queueOf(kvsOf(answer, 0)), revision, MOST_WAITERS);
  }

  list(query: LockListQuery): Promise<LockPage> {
    const inspect = (key: string) => this.inspect(key);
    return listQueues({ members: this.#members, keys: this.#keys, inspect }, query);
  }

  /** For many callers that share one key at the same time: in its queue, none can come between. */
  async #joinIfItHolds(request: AcquireRequest): Promise<Place | undefined> {
    const { place, position, inUse } = await this.join(request);
    if (position.state === 'holds') return place;
    await this.#members.isInTime(this.leave(place));
    if (inUse === undefined) return undefined;
    throw new LockPermitsError(request.key, request.permits!, inUse);
  }

  async #rewrite({ session, nodes, revision }: Place, content: NodeContent): Promise<boolean> {
    const txn = transactions.rewrite(nodes, revision, content, session.id);
    const answer = await this.#members.insist((client, o) => client.kv.txn(txn, o), session.lost);
    return answer.succeeded;
  }
}

function allSucceeded({ succeeded, responses }: TxnResponse): boolean {
  return succeeded && responses.every(({ response_txn: each }) => each?.succeeded ?? true);
}
