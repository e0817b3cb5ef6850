import type { LockInspection } from '../../../core/contract/lock-inspection.js';
import { ageOfToken } from '../../../core/list/token-age.js';
import { holderOf, permitsFrom } from '../keys/named-lock.js';
import type { SeenHolders } from '../keys/seen-holders.js';
import { asList, asNumber, asText, unknownReply } from '../lua/replies.js';
import { LONGEST_CLAIM } from '../lua/pace.js';

/** The value of a shared lock: `*<permits>`. */
const SHARED = /^\*(\w+)$/;
/** A value written by this library, and no other program. */
const OURS = /^~?[\w-]+\.[^:]*:/;
/** The number in a counter. Earlier versions wrote more behind it. */
const NUMBER = /^\d+/;
/** The value of a sharer that received the lock by a hand-off. */
const SHARER = /^~?[\w-]+\*(\w+)\./;

/** Reads the answer of INSPECT for `keys`. Exclusive holders are noted in `seen`. */
export function asInspections(
  keys: readonly string[],
  reply: unknown,
  seen: SeenHolders,
): (LockInspection | undefined)[] {
  const [now, ...answers] = asList(reply, keys.length + 1);
  const time = asNumber(now);
  return keys.map((key, index) => asInspection(key, answers[index], time, seen));
}

function asInspection(
  key: string,
  reply: unknown,
  now: number,
  holders: SeenHolders,
): LockInspection | undefined {
  if (reply === null) return undefined;
  const { value, pttl, counter, sharers, waiters, waiterCount } = asInspected(reply);
  const remaining = pttl < 0 ? Infinity : pttl;
  const seen = { key, remaining, waiters, waiterCount };
  const permits = (SHARED.exec(value) ?? SHARER.exec(value))?.[1];
  if (permits !== undefined) {
    const all = sharers.map(holderOf);
    return { ...seen, holder: all[0] || undefined, permits: permitsFrom(permits), holders: all };
  }
  const fence = OURS.test(value) ? NUMBER.exec(counter)?.[0] : undefined;
  const fencingToken = fence === undefined ? undefined : BigInt(fence);
  // A possible claim still has the counter of the holder before.
  const isClaim = remaining <= LONGEST_CLAIM;
  const heldFor = isClaim ? undefined : ageOfToken(fencingToken, now);
  if (fencingToken !== undefined && !isClaim) holders.note(key, value, fencingToken);
  return { ...seen, holder: holderOf(value) || undefined, heldFor, fencingToken };
}

function asInspected(reply: unknown) {
  const [value, pttl, counter, sharers, waiters, waiterCount] = asList(reply, 6);
  return {
    value: asText(value),
    pttl: asNumber(pttl),
    counter: counter === null ? '' : asText(counter),
    sharers: sharers === null ? [asText(value)] : asTexts(sharers),
    waiters: waiters === null ? undefined : asTexts(waiters).map(waiterOf),
    waiterCount: waiterCount === null ? undefined : asNumber(waiterCount),
  };
}

function asTexts(list: unknown): readonly string[] {
  if (!Array.isArray(list)) throw unknownReply('a list', list);
  return list.map(asText);
}

/** A member of a line is `<claim> <value>`. */
function waiterOf(member: string): string {
  return holderOf(member.slice(member.indexOf(' ') + 1));
}
