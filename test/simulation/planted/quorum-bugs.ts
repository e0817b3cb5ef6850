import type { Lease, LockStore } from '../../../lib/core/contract/lock-store.js';
import type { Bug } from '../bug.js';

const NEVER = new Promise<never>(() => undefined);
const MAJORITY = 2;

/** A vote in which neither side gets a majority never settles, and nobody has a deadline for it. */
export const neverSettlesEvenSplits: Bug = {
  options: { storeTimeout: 10_000_000 },
  store(store) {
    const isSplit = (request: Parameters<LockStore['tryAcquire']>[0]) => {
      const said = store.report!(request)!.nodes.map((node) => node.said);
      const count = (what: string) => said.filter((each) => each === what).length;
      return count('granted') < MAJORITY && count('held') < MAJORITY;
    };
    return changed(store, {
      tryAcquire: (request) =>
        store.tryAcquire(request).catch((error: unknown) => {
          if (isSplit(request)) return NEVER;
          throw error;
        }),
    });
  },
};

/** A node that comes back empty votes at once. */
export const letsEmptyNodesVote: Bug = { redlock: { quarantine: false } };

/** The token is the largest counter of the nodes that granted, and the others are not raised to it. */
export const raisesNoCounter: Bug = {
  node: (node) =>
    changed(node, {
      async tryAcquire(request) {
        const lease = await node.tryAcquire(request);
        return lease && changed<Lease>(lease, { raiseFencing: () => Promise.resolve(true) });
      },
    }),
};

/** A lock counts as taken before the replica has it. */
export const awaitsNoReplica: Bug = { redis: { replicas: 0 } };

/** With other members; the rest as it is. */
function changed<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(members, name) ?? Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
