import { LockPermitsError } from '../../../core/contract/lock-errors.js';
import type { AcquireRequest } from '../../../core/contract/lock-store.js';
import { asList, asNumber, unknownReply } from '../lua/replies.js';
import { BESIDE, BESIDE_SHARED } from './server-keys.js';
import type { ServerKeys } from './server-keys.js';
import { READERS, isShared } from '../../../core/sharing/hold-mode.js';
import { permitsText } from '../../../core/sharing/permits-text.js';

/** The server's names of a lease's keys, and the value that identifies its owner. */
export interface NamedLock {
  readonly request: AcquireRequest;
  /** The locks, then their counters and their lines; of sharers and waiters, their lines and the sets of sharers. */
  readonly keys: readonly string[];
  readonly value: string;
}

/** Read by the `tonumber` of scripts. */
const LUA_INFINITY = 'inf';

/** The parts of `NamedLock.keys` that a script needs. */
export const LOCKS = [0];
export const LOCKS_AND_SHARERS = [0, 2];
export const ALL_KEYS = [0, 1, 2];

/** The server's names of a store's locks, and the values of their holders. */
export class LockNames {
  readonly #keys: ServerKeys;
  readonly #id: string;

  /** `id` names the store and its wake-up channel. */
  constructor(keys: ServerKeys, id: string) {
    this.#keys = keys;
    this.#id = id;
  }

  exclusive(request: AcquireRequest): NamedLock {
    const { keys, token, holder = '' } = request;
    return {
      request,
      keys: this.#keys.with(BESIDE, keys),
      value: `${this.#id}.${token}:${holder}`,
    };
  }

  shared(request: AcquireRequest, permits: number): NamedLock {
    const { keys, token, holder = '' } = request;
    const value = `${this.#id}*${permitsText(permits, LUA_INFINITY)}.${token}:${holder}`;
    return { request, keys: this.#keys.with(BESIDE_SHARED, keys), value };
  }

  /** For the queue, which holds exclusive callers and sharers. */
  queued(request: AcquireRequest): NamedLock {
    if (isShared(request.permits)) return this.shared(request, request.permits);
    return { ...this.exclusive(request), keys: this.#keys.with(BESIDE_SHARED, request.keys) };
  }
}

/** `host:pid:startTime` in a value, or nothing. */
export function holderOf(value: string): string {
  const index = value.indexOf(':');
  return index < 0 ? '' : value.slice(index + 1);
}

/** The token of the request in the value of an exclusive holder, which writes its fencing token behind it when it is asked to stop. */
export function ownerOf(value: string): string | undefined {
  return /^~?[\w-]+\.([^:!]+)(?:!\d+)?:/.exec(value)?.[1];
}

/** The permits in `text`, as scripts write them. */
export function permitsFrom(text: unknown): number {
  const permits = text === LUA_INFINITY ? READERS : asNumber(text);
  if (permits >= 1) return permits;
  throw unknownReply('a number of permits', text);
}

/** The refusal of a sharer for a key in use with other permits: the key's number from 1, and those permits. */
export function otherPermits(
  { keys }: AcquireRequest,
  permits: number,
  reply: readonly unknown[],
): LockPermitsError {
  const [index, inUse] = asList(reply, 2);
  const key = keys[asNumber(index) - 1];
  if (key === undefined) throw unknownReply('the number of a key', index);
  return new LockPermitsError(key, permits, permitsFrom(inUse));
}
