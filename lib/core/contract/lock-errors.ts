import { redact } from '../text/redaction.js';
import { inWords, reportOf } from './store-notices.js';
import { withoutSecrets } from './safe-error.js';
import type { NodeReport, QuorumReport } from './lock-store.js';
import { printable, quoted } from '../text/printable.js';
import { isReader } from '../sharing/hold-mode.js';

/** Stable: programs may compare them. Messages are for people and may change. */
export type LockErrorCode =
  | 'LOCK_TIMEOUT'
  | 'LOCK_LOST'
  | 'LOCK_STORE_FAILED'
  | 'LOCK_KEY_INVALID'
  | 'LOCK_DEADLOCK'
  | 'LOCK_PERMITS_DIFFER'
  | 'LOCK_UNSUPPORTED'
  | 'LOCK_STALE'
  | 'LOCK_TOKEN_INVALID'
  | 'LOCK_QUEUE_FULL'
  | 'LOCK_DRAINING'
  | 'LOCK_WRITE_TIMEOUT';

/** Base of every error that a correct program may meet. Misuse is a `TypeError` or `RangeError` instead. */
export abstract class LockError extends Error {
  abstract readonly code: LockErrorCode;

  constructor(
    message: string,
    /** The key, or the key's template, that the error is about. Several are joined by a comma and a blank. */
    readonly key: string,
    options?: ErrorOptions,
  ) {
    super(printable(message), options); // drivers and nodes put their own words into it
    this.name = new.target.name;
  }
}

interface ReportedOptions extends ErrorOptions {
  /** The nodes' answers, where the store has several. */
  readonly report?: QuorumReport | undefined;
}

/** Another caller held the key for the whole `waitTimeout`. */
export class LockTimeoutError extends LockError {
  readonly code = 'LOCK_TIMEOUT';
  /** The nodes' answers to the last attempt. Empty for a store that has no nodes. */
  readonly nodes: readonly NodeReport[];
  /** Of several keys, the one that another caller had at the last attempt, where the store says so. */
  readonly refusedBy: string | undefined;
  /**
   * The process that had the key at the end of the wait, `host:pid:startTime`, and for how many milliseconds it had had it. Missing
   * after a single attempt, and where the store did not say so at once.
   */
  declare readonly heldBy?: string;
  declare readonly heldFor?: number;

  constructor(
    key: string,
    /** Milliseconds that were waited. `0`: one attempt. */
    readonly waitTimeout: number,
    options?: ReportedOptions & {
      /** `0`: the caller never came to the front of the queue of its own process. */
      readonly attempts?: number;
      readonly permits?: number | undefined;
      readonly refusedBy?: string | undefined;
      /** The reason, where it is known. */
      readonly why?: string;
    },
  ) {
    const { attempts = 1, permits, refusedBy, report } = options ?? {};
    const why = options?.why ?? whyHeld(attempts, permits, refusedBy);
    const within = waitTimeout === 0 ? '' : ` within ${waitTimeout} ms`;
    super(`Lock ${quoted(key)} was not acquired${within}: ${why}${inWords(report)}`, key, options);
    this.nodes = report?.nodes ?? [];
    this.refusedBy = refusedBy;
  }
}

function whyHeld(attempts: number, permits = Infinity, refusedBy?: string): string {
  const tried = attempts === 0 ? '' : ` (attempts: ${attempts})`;
  if (permits === 1) return `its permit is not free${tried}`;
  if (permits < Infinity) return `none of its ${permits} permits is free${tried}`;
  if (attempts > 0) return `${refusedBy === undefined ? 'it' : quoted(refusedBy)} is held${tried}`;
  return 'another caller of this process holds it, or waits for it';
}

/**
 * - `expired`: it could not be extended in time
 * - `gone`: the store says that the key is no longer ours
 * - `session`: the store's session ended
 * - `max-hold`: `maxHold` was reached
 * - `closed`: the `LockService` was closed
 * - `revoked`: `LockService.evict` asked the holder to stop, or took the key from it
 * - `released`: the lock was used after its release
 */
export type LockLostReason = keyof typeof LOST_BECAUSE;

const LOST_BECAUSE = {
  expired: 'it was not extended in time',
  gone: 'the store no longer has it',
  session: "the store's session ended",
  'max-hold': 'maxHold was reached',
  closed: 'its LockService was closed',
  revoked: 'its holder was evicted',
  released: 'it was released',
};

/** The lock was lost before the work was done. Another holder may have been working at the same time. */
export class LockLostError extends LockError {
  readonly code = 'LOCK_LOST';
  /** The work's result all the same. Missing when the work did not finish. Not enumerable: loggers would print personal data. */
  declare readonly result?: unknown;

  constructor(
    key: string,
    readonly reason: LockLostReason,
    options?: ErrorOptions & { readonly result?: unknown },
  ) {
    super(`Lock ${quoted(key)} is no longer held: ${LOST_BECAUSE[reason]}`, key, options);
    if (options && 'result' in options) {
      Object.defineProperty(this, 'result', { value: options.result });
    }
  }
}

/** The store failed, or did not answer in time: the key's state is unknown. `cause` has no command and no credentials. */
export class LockStoreError extends LockError {
  readonly code = 'LOCK_STORE_FAILED';
  /** The nodes' answers to the last attempt. Empty for a store that has no nodes. */
  readonly nodes: readonly NodeReport[];

  constructor(
    key: string,
    /** `LockStore.name`. */
    readonly store: string,
    why: string,
    options?: ReportedOptions,
  ) {
    const report = options?.report ?? reportOf(options?.cause);
    const cause = safeCause(options?.cause);
    super(
      `Lock store "${store}" failed for ${quoted(key)}: ${redact(why)}${inWords(report)}`,
      key,
      cause,
    );
    this.nodes = report?.nodes ?? [];
  }
}

/** A key cannot be used, or a template could not be filled. Names the placeholder, what was expected and what came. */
export class LockKeyError extends LockError {
  readonly code = 'LOCK_KEY_INVALID';
}

/** The caller asked for a key that its own async context holds, and would have waited for itself. */
export class LockDeadlockError extends LockError {
  readonly code = 'LOCK_DEADLOCK';
}

/** Processes disagree about the permits of the key. The first number counts while a caller holds or awaits the key. */
export class LockPermitsError extends LockError {
  readonly code = 'LOCK_PERMITS_DIFFER';

  constructor(
    key: string,
    /** The permits of this caller. `Infinity`: a read lock. */
    readonly permits: number,
    /** The permits that the present holders or waiters asked for. */
    readonly inUse: number,
  ) {
    const kinds = `asked for as ${kindOf(permits)}, but it is in use as ${kindOf(inUse)}`;
    super(`Lock ${quoted(key)} was ${kinds}`, key);
  }
}

function kindOf(permits: number): string {
  return isReader(permits) ? 'a read lock' : `a semaphore with ${permits} permits`;
}

/** The store cannot do what was asked for, whatever its state. */
export class LockUnsupportedError extends LockError {
  readonly code = 'LOCK_UNSUPPORTED';

  constructor(
    key: string,
    /** `LockStore.name`. */
    readonly store: string,
    message: string,
  ) {
    super(message, key);
  }
}

/** `undefined` without one: an error with a `cause` field prints it. This library's errors are safe. */
function safeCause(cause: unknown): ErrorOptions | undefined {
  if (cause === undefined) return undefined;
  return { cause: cause instanceof LockError ? cause : withoutSecrets(cause) };
}
