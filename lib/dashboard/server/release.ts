import { LockError } from '../../core/contract/lock-errors.js';
import type { LockErrorCode } from '../../core/contract/lock-errors.js';
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

/** The part of a `LockService` that evicts. */
interface EvictingLocks {
  evict?(
    key: string,
    options: {
      readonly fencingToken: bigint;
      readonly reason: string | undefined;
      readonly actor: string;
      readonly via: string;
    },
  ): Promise<{
    readonly evicted: boolean;
    readonly outcome: ReleaseAnswer['outcome'];
    readonly holder: string | undefined;
    readonly tokenBefore: bigint | undefined;
    readonly tokenAfter: bigint | undefined;
  }>;
}

/** Evicts the holder that the body names by its token. Rejects with `Refusal`. */
export async function release(
  locks: LockService,
  body: object,
  actor: string | undefined,
): Promise<ReleaseAnswer> {
  if (actor === undefined) {
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

type Eviction = Awaited<ReturnType<NonNullable<EvictingLocks['evict']>>>;

async function evict(
  locks: EvictingLocks,
  key: string,
  named: Parameters<NonNullable<EvictingLocks['evict']>>[1],
): Promise<Eviction> {
  if (!locks.evict) throw new Refusal(501, 'LOCK_UNSUPPORTED', 'These locks cannot be released by others'); // prettier-ignore
  try {
    return await locks.evict(key, named);
  } catch (error) {
    if (!(error instanceof LockError)) throw error;
    throw new Refusal(STATUS[error.code] ?? 500, error.code, error.message);
  }
}

function asAnswer({ evicted, outcome, holder, tokenBefore, tokenAfter }: Eviction): ReleaseAnswer {
  return {
    released: evicted,
    outcome,
    holder: holder === undefined ? undefined : processOf(holder),
    tokenBefore: tokenBefore?.toString(),
    tokenAfter: tokenAfter?.toString(),
  };
}

/** It must be named, so that nobody evicts the next holder. */
function tokenOf(value: unknown): bigint {
  if (typeof value === 'string' && TOKEN.test(value)) return BigInt(value);
  throw new Refusal(400, 'LOCK_OPTION_INVALID', 'fencingToken must be that of the holder, as text');
}

function reasonIn(value: unknown): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string' && value.length <= LONGEST_REASON) return value;
  throw new Refusal(400, 'LOCK_OPTION_INVALID', `reason must be a text of at most ${LONGEST_REASON} characters`); // prettier-ignore
}
