import { UnknownAnswerError } from '../../core/contract/unknown-answer.js';

/** Some clients make strings of numbers. */
const INTEGER = /^-?\d+$/;

/** What to do about replies that belong to somebody else's transaction. */
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
  if (typeof reply === 'string' && INTEGER.test(reply)) return BigInt(reply);
  throw unknownReply('a fencing token', reply);
}

export function asText(reply: unknown): string {
  if (typeof reply === 'string') return reply;
  throw unknownReply('a string', reply);
}

/** For scripts that answer for so many at once. */
export function asList(reply: unknown, length: number): readonly unknown[] {
  if (Array.isArray(reply) && reply.length === length) return reply;
  throw unknownReply(`a list of ${length}`, reply);
}

/** What `TIME` answers, in milliseconds since 1970. */
export function asTime(reply: unknown): number {
  const [seconds, micros] = asList(reply, 2).map(asNumber);
  return seconds! * 1_000 + micros! / 1_000;
}

/** Among the answers for several at once: the text of an error of one of them. */
export function isErrorText(answer: unknown): answer is string {
  return typeof answer === 'string' && answer !== '' && !INTEGER.test(answer);
}
