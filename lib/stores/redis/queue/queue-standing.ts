import { permitsFrom } from '../keys/named-lock.js';
import { asList, asNumber, isErrorText, isOne, unknownReply } from '../lua/replies.js';

/** The answer of WAIT for one waiter. */
export type Standing =
  | { readonly state: 'handed off' }
  /** The key is in use with other permits. */
  | { readonly state: 'refused'; readonly inUse: number }
  /** `ttl`: milliseconds until the key may be free, negative when unknown. `inFront`: waiters. */
  | { readonly state: 'waits'; readonly ttl: number; readonly inFront: number };

/** Throws an error of the server. */
export function asStanding(answer: unknown): Standing {
  if (isErrorText(answer)) throw new Error(answer);
  if (!Array.isArray(answer)) throw unknownReply('a list', answer);
  const [state, ...rest] = answer as readonly unknown[];
  if (Number(state) === 2) return { state: 'refused', inUse: permitsFrom(asList(rest, 1)[0]) };
  if (isOne(state)) return asList(rest, 0) && { state: 'handed off' };
  const [ttl, inFront] = asList(rest, 2).map(asNumber);
  return { state: 'waits', ttl: ttl!, inFront: inFront! };
}
