import { UnknownAnswerError } from '../../../core/contract/unknown-answer.js';

/** Some clients turn numbers into strings. */
const INTEGER = /^-?\d+$/;
const NATURAL = /^\d+$/;

/** The remedy for replies that belong to another caller's transaction. */
const OWN_CLIENT = 'a MULTI is open on the client: give the locks a client of their own';

export function unknownReply(expected: string, reply: unknown): Error {
  return new UnknownAnswerError(expected, reply, reply === 'QUEUED' ? OWN_CLIENT : undefined);
}

/** For scripts that answer 1 or 0. */
export function isOne(reply: unknown): boolean {
  if (reply === 1 || reply === '1') return true;
  if (reply === 0 || reply === '0') return false;
  throw unknownReply('1 or 0', reply);
}

export function asNumber(reply: unknown): number {
  if (typeof reply === 'number' && Number.isInteger(reply)) return reply;
  if (typeof reply === 'string' && INTEGER.test(reply)) return Number(reply);
  throw unknownReply('a number', reply);
}

export function asFencingToken(reply: unknown): bigint {
  if (typeof reply === 'number' && Number.isInteger(reply) && reply >= 0) return BigInt(reply);
  if (typeof reply === 'string' && NATURAL.test(reply)) return BigInt(reply);
  throw unknownReply('a fencing token', reply);
}

export function asText(reply: unknown): string {
  if (typeof reply === 'string') return reply;
  throw unknownReply('a string', reply);
}

/** The reply of RENEW: the first of a block of fencing tokens, and whether the line has waiters. `undefined`: the key is not ours. */
export function asRenewal(
  reply: unknown,
): { readonly fence: bigint; readonly isAwaited: boolean } | undefined {
  if (reply === null) return undefined;
  const [fence, others] = asList(reply, 2);
  return { fence: asFencingToken(fence), isAwaited: isOne(others) };
}

/** For scripts that answer for `length` items at once. */
export function asList(reply: unknown, length: number): readonly unknown[] {
  if (Array.isArray(reply) && reply.length === length) return reply;
  throw unknownReply(`a list of ${length}`, reply);
}

/** The reply of `TIME`, in milliseconds since 1970. */
export function asTime(reply: unknown): number {
  const [seconds, micros] = asList(reply, 2).map(asNumber);
  return seconds! * 1_000 + micros! / 1_000;
}

/** In a reply for several items: the text of one item's error. */
export function isErrorText(answer: unknown): answer is string {
  return typeof answer === 'string' && answer !== '' && !INTEGER.test(answer);
}

/** Called with the refused key of several. Missing for a single key. */
export type Refused = ((key: string) => void) | undefined;

/** Whether a script refuses the keys. Of several, it answers minus the number of one, which `refused` gets. */
export function isRefusal(keys: readonly string[], reply: unknown, refused: Refused): boolean {
  if (reply === null || !refused) return reply === null;
  const key = isWhole(reply) ? keys[-Number(reply) - 1] : undefined;
  if (key !== undefined) refused(key);
  return key !== undefined;
}

function isWhole(reply: unknown): boolean {
  return typeof reply === 'number' || (typeof reply === 'string' && INTEGER.test(reply));
}
