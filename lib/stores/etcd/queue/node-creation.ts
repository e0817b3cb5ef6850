import type { AcquireRequest } from '../../../core/contract/lock-store.js';
import type { KeyValue, TxnRequest, TxnResponse } from '../client/etcd-client.js';
import { newNode } from '../keys/etcd-keys.js';
import type { EtcdKeys, Queue } from '../keys/etcd-keys.js';
import type { EtcdMembers } from '../client/etcd-members.js';
import { isAnswer, isRefusal, isSessionGone } from '../client/etcd-refusal.js';
import type { EtcdSession } from '../session/etcd-session.js';
import type { EtcdSessions } from '../session/etcd-sessions.js';
import { revoke } from './etcd-transactions.js';
import type { NewNodes } from './etcd-transactions.js';
import type { NodeContent } from './node-value.js';

/** Nodes as they were created, all in one revision. The revision, and not the names, shows whose they are. */
export interface Place {
  readonly session: EtcdSession;
  readonly nodes: readonly Buffer[];
  readonly revision: bigint;
  /** The fencing token: a revision at which they held their keys. Unknown for a place that waits. */
  readonly token: bigint;
  readonly content: NodeContent;
}

/** How a creation is asked for, and how its answer is read. */
export interface Creation<T> {
  readonly transaction: (made: NewNodes) => TxnRequest;
  readonly created: (place: Place, answer: TxnResponse) => T;
  /** `again`: the obstacle is gone. */
  readonly refused: (
    session: EtcdSession,
    content: NodeContent,
    answer: TxnResponse,
  ) => T | 'again';
}

/** How often the answer to a creation may be lost. Each time, the creation is cancelled. */
const LOST_ANSWERS = 3;

/** Creates nodes, each time by other names, and makes sure that no unknown node is left behind. */
export class NodeCreation {
  readonly #members: EtcdMembers;
  readonly #sessions: EtcdSessions;
  readonly #keys: EtcdKeys;

  constructor(members: EtcdMembers, sessions: EtcdSessions, keys: EtcdKeys) {
    this.#members = members;
    this.#sessions = sessions;
    this.#keys = keys;
  }

  async create<T>(
    { token, holder = '', permits }: AcquireRequest,
    queues: readonly Queue[],
    { transaction, created, refused }: Creation<T>,
  ): Promise<T> {
    const content = { holder, permits };
    for (let lost = 0; ;) {
      const session = await this.#sessions.current();
      const nodes = queues.map((queue) => newNode(queue, token));
      const { id, epoch } = session;
      const made = { nodes, content, session: id, guard: this.#keys.guard(id), epoch };
      try {
        const answer = await this.#members.once((c, o) => c.kv.txn(transaction(made), o));
        const revision = BigInt(answer.header.revision);
        if (answer.succeeded)
          return created({ session, nodes, revision, token: revision, content }, answer);
        learnEpoch(session, answer);
        const result = refused(session, content, answer);
        if (result !== 'again') return result;
      } catch (error) {
        await this.#undo(session, made, error);
        if (++lost >= LOST_ANSWERS) throw error;
      }
    }
  }

  /** Throws `error` if another attempt is of no use, or cannot be made yet. */
  async #undo(session: EtcdSession, made: NewNodes, error: unknown): Promise<void> {
    if (isSessionGone(error)) return session.lose('etcd does not know it');
    if (isRefusal(error)) throw error;
    const txn = revoke(made, isAnswer(error));
    const undone = this.#members
      .insist((client, o) => client.kv.txn(txn, o), session.lost, isSessionGone)
      .then(
        (answer) => learnEpoch(session, answer),
        (failure) => {
          if (isSessionGone(failure)) session.lose('etcd does not know it');
        },
      );
    if (!(await this.#members.isInTime(undone))) throw error;
  }
}

/** For one part of an answer. */
export function kvsOf({ responses }: TxnResponse, index: number): readonly KeyValue[] {
  return responses[index]?.response_range?.kvs ?? [];
}

/** The guard comes last. */
function learnEpoch(session: EtcdSession, answer: TxnResponse): void {
  const [guard] = kvsOf(answer, answer.responses.length - 1);
  session.learnEpoch(guard?.version ?? '0');
}
