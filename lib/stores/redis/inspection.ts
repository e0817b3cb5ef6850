import type { LockInspection } from '../../core/contract/lock-store.js';
import { permitsFrom } from './keys/named-lock.js';
import { asList, asNumber, asText, unknownReply } from './lua/replies.js';

/** The value of a shared lock: `*<permits>`. */
const SHARED = /^\*(\w+)$/;
/** A value written by this library, and no other program. */
const OURS = /^~?[\w-]+\.[^:]*:/;
/** The number in a counter. Earlier versions wrote more behind it. */
const NUMBER = /^\d+/;
/** The value of a sharer that received the lock by a hand-over. */
const SHARER = /^~?[\w-]+\*(\w+)\./;

/** Reads the answer of INSPECT for `key`. */
export function asInspection(key: string, reply: unknown): LockInspection | undefined {
  if (reply === null) return undefined;
  const { value, pttl, counter, sharers } = asInspected(reply);
  const remaining = pttl < 0 ? Infinity : pttl;
  const permits = (SHARED.exec(value) ?? SHARER.exec(value))?.[1];
  if (permits !== undefined) {
    const holders = sharers.map(holderOf);
    return {
      key,
      holder: holders[0] || undefined,
      permits: permitsFrom(permits),
      holders,
      remaining,
    };
  }
  const fence = OURS.test(value) ? NUMBER.exec(counter)?.[0] : undefined;
  return {
    key,
    holder: holderOf(value) || undefined,
    remaining,
    fencingToken: fence === undefined ? undefined : BigInt(fence),
  };
}

function asInspected(reply: unknown) {
  if (!Array.isArray(reply) || reply.length < 3)
    throw unknownReply('nil or a list of 3 or 4', reply);
  const [value, pttl, counter, sharers] = asList(reply.length === 3 ? [...reply, null] : reply, 4);
  return {
    value: asText(value),
    pttl: asNumber(pttl),
    counter: counter === null ? '' : asText(counter),
    sharers: sharers === null ? [asText(value)] : asTexts(sharers),
  };
}

function asTexts(list: unknown): readonly string[] {
  if (!Array.isArray(list)) throw unknownReply('a list', list);
  return list.map(asText);
}

function holderOf(value: string): string {
  const index = value.indexOf(':');
  return index < 0 ? '' : value.slice(index + 1);
}
