import { randomUUID } from 'node:crypto';
import { reasonOf } from '../../core/contract/safe-error.js';
import type { LockService } from '../../core/lock.service.js';
import { oneLine } from '../output/failure.js';
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
      message: `${store}: no lock can be taken: ${await whyDown(locks, reason)}`,
    };
  const took = `${store}: a lock was taken and freed in ${Math.round(duration)} ms`;
  if (!nodes) return { status: 'ok', about, message: took };
  const count = `${nodes.up} of ${nodes.total} nodes have a vote`;
  return { status: status === 'up' ? 'ok' : 'problem', about, message: `${took}; ${count}` };
}

/** `reason` is one word: the error of an attempt says more. */
async function whyDown(locks: LockService, reason = 'unknown'): Promise<string> {
  if (reason === 'timeout') return reason; // another attempt would hang, too
  try {
    await (await locks.tryAcquire(`holdfast:doctor:${randomUUID()}`))?.release();
    return reason;
  } catch (error) {
    return oneLine(reasonOf(error));
  }
}
