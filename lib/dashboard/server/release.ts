import { LockError } from '../../core/contract/lock-errors.js';
import type { LockErrorCode } from '../../core/contract/lock-errors.js';
import type { LockEviction } from '../../core/evict/evict-holder.js';
import type { LockEvictOptions } from '../../core/evict/evict-options.js';
import type { LockService } from '../../core/lock.service.js';
import type { ReleaseAnswer } from '../api.js';
import { processOf } from '../sample/process-text.js';
import { Refusal } from './answers.js';
import { checkedKey } from './snapshot-query.js';

/** How the audit names the page. */
const VIA = 'dashboard';
const LONGEST_REASON = 1_000;
const TOKEN = /^[1-9]\d{0,29}$/;
const STATUS: Partial<Record<LockErrorCode, number>> = {
  LOCK_UNSUPPORTED: 501,
  LOCK_STORE_FAILED: 503,
};

/** Evicts the holder that the body names by its token. Rejects with `Refusal`. */
export async function release(
  locks: LockService,
  body: object,
  actor: string | undefined,
): Promise<ReleaseAnswer> {
  if (typeof actor !== 'string' || actor === '') {
    throw new Refusal(403, 'LOCK_DASHBOARD_NO_ACTOR', 'It is not known who asks, so nothing is released: authorize must give { actor }'); // prettier-ignore
  }
  const { key, fencingToken, reason } = body as Readonly<Record<string, unknown>>;
  const named = {
    fencingToken: tokenOf(fencingToken),
    reason: reasonIn(reason),
    actor,
    via: VIA,
  };
  return asAnswer(await evict(locks, checkedKey(key), named));
}

async function evict(
  locks: LockService,
  key: string,
  named: LockEvictOptions,
): Promise<LockEviction> {
  try {
    return await locks.evict(key, named);
  } catch (error) {
    if (!(error instanceof LockError)) throw error;
    throw new Refusal(STATUS[error.code] ?? 500, error.code, error.message);
  }
}

function asAnswer({
  evicted,
  outcome,
  holder,
  tokenBefore,
  tokenAfter,
}: LockEviction): ReleaseAnswer {
  return {
    released: evicted,
    outcome,
    holder: holder === undefined ? undefined : processOf(holder),
    tokenBefore: tokenBefore?.toString(),
    tokenAfter: tokenAfter?.toString(),
  };
}

/** It must be named, so that the next holder is not evicted in its place. */
function tokenOf(value: unknown): bigint {
  if (typeof value === 'string' && TOKEN.test(value)) return BigInt(value);
  throw new Refusal(400, 'LOCK_OPTION_INVALID', 'fencingToken must be that of the holder, as text');
}

function reasonIn(value: unknown): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string' && value.length <= LONGEST_REASON) return value;
  throw new Refusal(400, 'LOCK_OPTION_INVALID', `reason must be a text of at most ${LONGEST_REASON} characters`); // prettier-ignore
}
