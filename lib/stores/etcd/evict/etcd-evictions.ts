import type {
  EvictRequest,
  HolderAnswer,
  NamedHolder,
  TakenKey,
} from '../../../core/contract/lock-store.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
import { isShared } from '../../../core/sharing/hold-mode.js';
import type { KeyValue, TxnRequest, TxnResponse } from '../client/etcd-client.js';
import type { EtcdMembers } from '../client/etcd-members.js';
import type { EtcdKeys } from '../keys/etcd-keys.js';
import type { EvictionSteps } from '../../kit/evictions.js';
import { kvsOf } from '../queue/node-creation.js';
import { readValue } from '../queue/node-value.js';
import { askingText } from '../../kit/asked-holder.js';
import { firstNode, remove, replace } from './evict-transactions.js';

/** How often the holder's node may be rewritten by others meanwhile. */
const ATTEMPTS = 5;
const COMPACTED = 'required revision has been compacted';

/** The first node of a queue, and whether the named holder has it. */
interface Seen {
  readonly answer: HolderAnswer;
  readonly node?: KeyValue;
  /** The revision at which it was read. */
  readonly at: bigint;
}

/**
 * Takes keys from their holders: the node of the holder gets another owner, and stays the first in the queue until it is deleted.
 * A fencing token is a revision at which its holder was the first. etcd still knows that node, unless the revision was
 * compacted away.
 */
export class EtcdEvictions implements EvictionSteps {
  readonly #members: EtcdMembers;
  readonly #keys: EtcdKeys;

  constructor(members: EtcdMembers, keys: EtcdKeys) {
    this.#members = members;
    this.#keys = keys;
  }

  async ask(named: NamedHolder, grace: number): Promise<HolderAnswer> {
    const { answer, node } = await this.#look(named);
    if (answer.state === 'held') await this.#askIn(node!, grace);
    return answer;
  }

  async take(request: EvictRequest): Promise<HolderAnswer> {
    const seen = await this.#look(request);
    if (seen.answer.state !== 'held') return this.#takenBefore(request, seen) ?? seen.answer;
    const ttl = Math.ceil(request.ttl / 1_000);
    const { ID: lease } = await this.#members.ask((c, o) => c.leaseClient.leaseGrant({ TTL: ttl }, o)); // prettier-ignore
    try {
      const answer = await this.#replace(request, seen, lease);
      if (answer.state !== 'taken') this.#revokeLease(lease);
      return answer;
    } catch (error) {
      this.#revokeLease(lease); // a transaction that is still on its way is refused then
      throw error;
    }
  }

  /** Writes to the node, which its holder watches. Never rejects: the next look writes again. */
  async #askIn(node: KeyValue, grace: number): Promise<void> {
    const { holder, grace: asked } = readValue(node.value);
    if (asked !== undefined) return;
    const content = { holder: askingText(holder, grace), permits: undefined };
    await this.#ask(replace(node, content, node.lease)).catch(() => undefined);
  }

  /** Of a node that others rewrite, again and again. */
  async #replace(request: EvictRequest, first: Seen, lease: string): Promise<HolderAnswer> {
    const content = { holder: ownerOf(request), permits: undefined };
    for (let seen = first, left = ATTEMPTS; ; seen = await this.#look(request)) {
      const taken = this.#takenBefore(request, seen);
      if (taken) return taken; // by a transaction whose answer was lost
      if (seen.answer.state !== 'held' || left-- === 0) return seen.answer;
      const { succeeded, header } = await this.#ask(replace(seen.node!, content, lease));
      if (!succeeded) continue;
      const taking = this.#taken(seen.node!.key, lease, BigInt(header.revision));
      return { ...seen.answer, state: 'taken', taken: taking };
    }
  }

  #takenBefore(request: EvictRequest, { node, at }: Seen): HolderAnswer | undefined {
    if (!node || readValue(node.value).holder !== ownerOf(request)) return undefined;
    return { state: 'taken', taken: this.#taken(node.key, node.lease, at) };
  }

  #taken(key: Buffer, lease: string, fencingToken: bigint): TakenKey {
    const release = async () => {
      const { succeeded } = await this.#ask(remove(key, lease));
      this.#revokeLease(lease);
      return succeeded;
    };
    return { fencingToken, release };
  }

  async #look({ key, fencingToken }: NamedHolder): Promise<Seen> {
    const queue = this.#keys.queue(key);
    const now = await this.#ask(firstNode(queue));
    const at = BigInt(now.header.revision);
    const [node] = kvsOf(now, 0);
    if (!node) return { answer: { state: 'other' }, at };
    const { holder, permits } = readValue(node.value);
    const seen = { holder: holder || undefined, fencingToken: at };
    if (isShared(permits)) return { answer: { state: 'shared', holder: seen.holder }, node, at };
    if (fencingToken > at) return { answer: { ...seen, state: 'other' }, node, at };
    const then = await this.#ask(firstNode(queue, fencingToken)).catch((error: unknown) => {
      if (reasonOf(error).includes(COMPACTED)) return undefined;
      throw error;
    });
    const state = then ? (isSame(kvsOf(then, 0)[0], node) ? 'held' : 'other') : 'unconfirmed';
    return { answer: { ...seen, state }, node, at };
  }

  #ask(txn: TxnRequest): Promise<TxnResponse> {
    return this.#members.ask((client, options) => client.kv.txn(txn, options));
  }

  /** Never rejects: it ends with its time to live. */
  #revokeLease(ID: string): void {
    this.#members.once((c, o) => c.leaseClient.leaseRevoke({ ID }, o)).catch(() => undefined);
  }
}

/** The content of a node that an eviction has taken from its holder. The owner token makes it that of one eviction. */
function ownerOf({ holder = '', token }: EvictRequest): string {
  return `${holder} ${token}`;
}

/** The same node with the same owner. */
function isSame(then: KeyValue | undefined, now: KeyValue): boolean {
  if (!then || !then.key.equals(now.key) || then.lease !== now.lease) return false;
  const [before, after] = [then, now].map(({ value }) => readValue(value));
  return then.create_revision === now.create_revision && before!.holder === after!.holder;
}
