import type { Lease } from '../../core/contract/lock-store.js';
import type { FencingNumbers } from '../plan/fencing-numbers.js';

/** A lease whose token is a revision, with its place among the tokens of the move. It is not handed off. */
export function numberedLease(lease: Lease, numbers: FencingNumbers): Lease {
  return {
    get fencingToken() {
      return lease.fencingToken === undefined ? undefined : numbers.ofTarget(lease.fencingToken);
    },
    get lost() {
      return lease.lost;
    },
    extend: (ttl) => lease.extend(ttl),
    release: (isValid) => lease.release(isValid),
    ...(lease.retire && { retire: (ms: number) => lease.retire!(ms) }),
    ...(lease.downgrade && { downgrade: () => lease.downgrade!() }),
  };
}
