import type { LockService } from '../../core/lock.service.js';
import type { Check } from './check.js';

/** Milliseconds for a lock and its release. */
const WITHIN = 5_000;

/** Whether a lock can be taken and freed. */
export async function checkStore(locks: LockService): Promise<Check> {
  const { status, duration, reason, nodes, store } = await locks.health({
    probe: 'lock',
    timeout: WITHIN,
  });
  const about = 'lock';
  if (status === 'down')
    return {
      status: 'down',
      about,
      message: `${store}: no lock can be taken: ${reason ?? 'unknown'}`,
    };
  const took = `${store}: a lock was taken and freed in ${Math.round(duration)} ms`;
  if (!nodes) return { status: 'ok', about, message: took };
  const count = `${nodes.up} of ${nodes.total} nodes have a vote`;
  return { status: status === 'up' ? 'ok' : 'problem', about, message: `${took}; ${count}` };
}
