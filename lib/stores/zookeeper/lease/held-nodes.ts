import type { AcquireRequest, Lease } from '../../../core/contract/lock-store.js';
import { combine } from '../../../core/store/combined-lease.js';
import type { LockNodes } from '../nodes/lock-nodes.js';
import { numberOf } from '../nodes/numbering.js';
import type { Session } from '../session/session.js';
import { ZooKeeperLease } from './zookeeper-lease.js';

type Request = Pick<AcquireRequest, 'keys' | 'token'>;

/** One key of several, and its node. */
interface OwnKey {
  readonly key: string;
  readonly nodes: LockNodes;
}

/** The nodes of the locks that a store holds, by their keys and owner tokens. */
export class HeldNodes {
  readonly #held = new Map<string, LockNodes>();
  readonly #revoke: (key: string, grace: number) => void;

  /** `revoke` is called when an eviction asks the holder of a key to stop within `grace` ms. */
  constructor(revoke: (key: string, grace: number) => void) {
    this.#revoke = revoke;
  }

  add(request: Request, nodes: LockNodes): LockNodes {
    const id = idOf(request);
    this.#held.set(id, nodes);
    nodes.onGone(() => this.#held.delete(id));
    nodes.watch((path, grace) => {
      const key = request.keys[nodes.paths.indexOf(path)];
      if (key !== undefined) this.#revoke(key, grace);
    });
    return nodes;
  }

  find(request: Request): LockNodes | undefined {
    return this.#held.get(idOf(request));
  }

  /** Of several keys, the one that a request with the same token has already, after waiting for it. */
  findOne({ keys, token }: Request): OwnKey | undefined {
    if (keys.length === 1) return undefined;
    for (const key of keys) {
      const nodes = this.find({ keys: [key], token });
      if (nodes?.isOurs) return { key, nodes };
    }
    return undefined;
  }
}

/** One lease of nodes that were made one after the other, for the same owner. Gives the last ones back if it fails. */
export async function leaseOfBoth(
  session: Session,
  first: LockNodes,
  others: LockNodes,
  isShared: boolean,
): Promise<Lease> {
  try {
    const paths = [...first.paths, ...others.paths];
    const token = isShared ? undefined : await numberOf(session, paths);
    return combine([new ZooKeeperLease(first), new ZooKeeperLease(others)], token);
  } catch (error) {
    others.leave().catch(() => {}); // it is repeated until it is done
    throw error;
  }
}

function idOf({ keys, token }: Request): string {
  return JSON.stringify([token, ...keys]);
}
