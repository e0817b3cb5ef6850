import type { AcquireRequest, LockInspection } from '../../core/lock-store.js';
import type { KeyValue, TxnRequest, TxnResponse } from './etcd-client.js';
import { isNodeOf, newNode } from './etcd-keys.js';
import type { EtcdKeys, Queue } from './etcd-keys.js';
import type { Call, EtcdMembers } from './etcd-members.js';
import { isAnswer, isRefusal, isSessionGone } from './etcd-refusal.js';
import type { EtcdSession } from './etcd-session.js';
import type { EtcdSessions } from './etcd-sessions.js';
import * as transactions from './etcd-transactions.js';
import type { NewNodes } from './etcd-transactions.js';

/** Nodes as they were created, all in one revision: it, and not their names, says whose they are. */
export interface Place {
  readonly session: EtcdSession;
  readonly nodes: readonly Buffer[];
  readonly revision: bigint;
}

/** Who stands before a place, and the first revision that its reading did not see. */
export interface Predecessor {
  readonly key: Buffer;
  readonly from: string;
}

/** A place of its own in one queue. */
export interface Joined {
  readonly place: Place;
  readonly predecessor: Predecessor | undefined;
}

/** How often a creation is tried whose answer was lost, and each time has been made of no effect. */
const ATTEMPTS = 3;

/** The nodes of a store's contenders: what is asked of etcd for them. */
export class EtcdNodes {
  readonly #members: EtcdMembers;
  readonly #sessions: EtcdSessions;
  readonly #keys: EtcdKeys;

  constructor(members: EtcdMembers, sessions: EtcdSessions, keys: EtcdKeys) {
    this.#members = members;
    this.#sessions = sessions;
    this.#keys = keys;
  }

  /** Creates all nodes in one transaction if nobody is in their queues. `undefined`: somebody is. */
  take(request: AcquireRequest): Promise<Place | undefined> {
    const queues = request.keys.map((key) => this.#keys.queue(key));
    return this.#create(request, queues, (made) => transactions.takeAll(queues, made), {
      created: (place) => place,
      refused: (session, responses) => {
        const firsts = queues.map((_, index) => kvsOf(responses, index)[0]);
        const [first] = firsts;
        if (
          first &&
          firsts.every((each, index) => isOwn(each, queues[index]!, request.token, session))
        ) {
          const nodes = firsts.map((each) => each!.key);
          return { session, nodes, revision: BigInt(first.create_revision) };
        }
        return firsts.some(Boolean) ? undefined : 'stale';
      },
    });
  }

  /** Creates a node at the end of the queue. */
  join(request: AcquireRequest): Promise<Joined> {
    const queue = this.#keys.queue(request.key);
    return this.#create<Joined>(request, [queue], (made) => transactions.join(queue, made), {
      created: (place, { responses }) => ({
        place,
        predecessor: asPredecessor(kvsOf(responses, 1)[1], place.revision),
      }),
      refused: () => 'stale',
    });
  }

  /** Who stands before the place now. `'gone'`: the place itself is no more. */
  async look(
    key: string,
    place: Place,
    signal: AbortSignal,
  ): Promise<Predecessor | 'gone' | undefined> {
    const txn = transactions.look(this.#keys.queue(key), place.nodes[0]!, place.revision);
    const answer = await this.#members.insist((client, o) => client.kv.txn(txn, o), signal);
    if (!answer.succeeded) return 'gone';
    return asPredecessor(kvsOf(answer.responses, 0)[0], BigInt(answer.header.revision));
  }

  /** Whether all nodes are still there. Asks until it knows, or the session is lost. */
  async confirm({ session, nodes, revision }: Place): Promise<boolean> {
    const txn = transactions.confirm(nodes, revision);
    const answer = await this.#members.insist((client, o) => client.kv.txn(txn, o), session.lost);
    return answer.succeeded;
  }

  /**
   * Deletes the nodes. Asks until it is done, or the session is lost, whatever etcd says meanwhile: nobody else would free the
   * key. Resolves whether all of them were still there.
   */
  async leave({ session, nodes, revision }: Place): Promise<boolean> {
    const txn = transactions.leave(nodes, revision);
    let isRepeated = false;
    const leave: Call<boolean> = (client, options) => {
      const repeats = isRepeated; // what an earlier request deleted, whose answer was lost, was ours
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
    const range = { request_range: transactions.first(this.#keys.queue(key)) };
    const txn = { compare: [], success: [range], failure: [] };
    const { responses } = await this.#members.ask((client, o) => client.kv.txn(txn, o));
    const first = kvsOf(responses, 0)[0];
    if (!first) return undefined;
    const holder = first.value.toString() || undefined;
    return { key, holder, fencingToken: BigInt(first.create_revision) };
  }

  async #create<T>(
    { token, holder = '' }: AcquireRequest,
    queues: readonly Queue[],
    transaction: (made: NewNodes) => TxnRequest,
    read: {
      created: (place: Place, answer: TxnResponse) => T;
      refused: (session: EtcdSession, responses: TxnResponse['responses']) => T | 'stale';
    },
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const session = await this.#sessions.current();
      const nodes = queues.map((queue) => newNode(queue, token));
      const { id, epoch } = session;
      const made = { nodes, holder, session: id, guard: this.#keys.guard(id), epoch };
      try {
        const answer = await this.#members.once((c, o) => c.kv.txn(transaction(made), o));
        const { succeeded, responses, header } = answer;
        if (succeeded)
          return read.created({ session, nodes, revision: BigInt(header.revision) }, answer);
        session.learnEpoch(versionOf(kvsOf(responses, responses.length - 1)[0]));
        const result = read.refused(session, responses);
        if (result !== 'stale') return result;
      } catch (error) {
        await this.#undo(session, made, error);
        if (attempt >= ATTEMPTS) throw error;
      }
    }
  }

  /** Throws `error` where another attempt is of no use, or cannot be made yet. */
  async #undo(session: EtcdSession, made: NewNodes, error: unknown): Promise<void> {
    if (isSessionGone(error)) return session.lose('etcd does not know it');
    if (isRefusal(error)) throw error;
    const txn = transactions.revoke(made, isAnswer(error));
    const undone = this.#members
      .insist((client, o) => client.kv.txn(txn, o), session.lost, isSessionGone)
      .then(
        ({ responses }) => session.learnEpoch(versionOf(kvsOf(responses, responses.length - 1)[0])),
        (failure) => {
          if (isSessionGone(failure)) session.lose('etcd does not know it');
        },
      );
    if (!(await this.#members.isInTime(undone))) throw error;
  }
}

function kvsOf(responses: TxnResponse['responses'], index: number): readonly KeyValue[] {
  return responses[index]?.response_range?.kvs ?? [];
}

function versionOf(guard: KeyValue | undefined): string {
  return guard?.version ?? '0';
}

/** A node of a session of before may go at any moment. */
function isOwn(
  node: KeyValue | undefined,
  queue: Queue,
  token: string,
  { id }: EtcdSession,
): boolean {
  return node?.lease === id && isNodeOf(queue, token, node.key);
}

function asPredecessor(node: KeyValue | undefined, seen: bigint): Predecessor | undefined {
  return node && { key: node.key, from: String(seen + 1n) };
}

function allSucceeded({ succeeded, responses }: TxnResponse): boolean {
  return succeeded && responses.every(({ response_txn: each }) => each?.succeeded ?? true);
}
