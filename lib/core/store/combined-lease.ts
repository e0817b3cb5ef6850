import { checkBoolean } from '../contract/store-answers.js';
import type { Lease } from '../contract/lock-store.js';

/** One lease made of several with the same owner token. */
export function combine(leases: readonly Lease[], fencingToken: bigint | undefined): Lease {
  const sessions = leases.flatMap((lease) => lease.lost ?? []);
  const anyLost = sessions.length > 0 ? AbortSignal.any(sessions) : undefined;
  return {
    fencingToken,
    /** A lease whose signal is right before any timer could run is asked itself. */
    get lost() {
      return sessions.find(({ aborted }) => aborted) ?? anyLost;
    },
    extend: (ttl) => allOrNone(leases, (each) => each.extend(ttl)),
    release: (isValid) => releaseAll(leases, isValid),
    ...(leases.every((each) => each.retire !== undefined) && {
      retire: (ms) => allOrNone(leases, (each) => each.retire!(ms)),
    }),
    ...(leases.every((each) => each.downgrade !== undefined) && {
      downgrade: () => allOrNone(leases, (each) => each.downgrade!()),
    }),
  };
}

async function allOrNone(
  leases: readonly Lease[],
  change: (lease: Lease) => Promise<boolean>,
): Promise<boolean> {
  const changed = await Promise.all(leases.map(change));
  changed.forEach(checkBoolean);
  return changed.every(Boolean);
}

export async function releaseAll(
  leases: readonly Lease[],
  isValid?: () => boolean,
): Promise<boolean> {
  const released = await Promise.all(leases.map(async (each) => each.release(isValid)));
  released.forEach(checkBoolean);
  return released.every(Boolean);
}
