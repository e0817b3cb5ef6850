import { LockPermitsError } from '../../core/lock-errors.js';
import type { AcquireRequest } from '../../core/lock-store.js';
import { asList, asNumber, unknownReply } from './replies.js';
import type { ServerKeys } from './server-keys.js';

/** The keys of a lease as they are called on the server, and the value that says whose they are. */
export interface Held {
  readonly request: AcquireRequest;
  /** The locks, then their counters and their lines; of those who share them or wait, their lines and the sets of sharers. */
  readonly keys: readonly string[];
  readonly value: string;
}

/** Which parts of `Held.keys` a script needs. */
export const LOCKS = [0];
export const LOCKS_AND_SHARERS = [0, 2];
export const ALL_KEYS = [0, 1, 2];

/** What the locks of one store, and those who have them, are called on the server. */
export class HeldNames {
  readonly #keys: ServerKeys;
  readonly #id: string;

  /** `id` names the store, and the channel on which it is woken. */
  constructor(keys: ServerKeys, id: string) {
    this.#keys = keys;
    this.#id = id;
  }

  alone(request: AcquireRequest): Held {
    const { keys, token, holder = '' } = request;
    return { request, keys: this.#keys.alone(keys), value: `${this.#id}.${token}:${holder}` };
  }

  shared(request: AcquireRequest, permits: number): Held {
    const { keys, token, holder = '' } = request;
    const value = `${this.#id}*${permitsText(permits)}.${token}:${holder}`;
    return { request, keys: this.#keys.shared(keys), value };
  }

  /** For the queue, where both kinds stand. */
  inLine(request: AcquireRequest): Held {
    if (request.permits !== undefined) return this.shared(request, request.permits);
    return { ...this.alone(request), keys: this.#keys.shared(request.keys) };
  }
}

/** The permits in `text`, as scripts write them. */
export function permitsFrom(text: unknown): number {
  if (text === 'inf') return Infinity;
  const permits = asNumber(text);
  if (permits >= 1) return permits;
  throw unknownReply('a number of permits', text);
}

function permitsText(permits: number): string {
  return permits === Infinity ? 'inf' : String(permits);
}

/** What one is refused with who wants to share a key that is in use with other permits: its number from 1, and those. */
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
