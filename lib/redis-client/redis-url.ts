import { isDecodable } from '../core/text/decodable.js';

const UNREADABLE =
  'cannot be read: "/", "#", "?" and "%" in a password have to be escaped, by encodeURIComponent';
const NO_DATABASE = 'must end with the number of a database, or without one: redis://host:6379/0';

/**
 * What is wrong with a URL, without a word of it: it may have a password. `undefined`: nothing. For one without a database, ioredis
 * sends `SELECT NaN`, and the server's refusal ends the process: no caller can catch it.
 */
export function wrongOfUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return UNREADABLE;
  const { username, password, pathname, searchParams } = new URL(url);
  if (![username, password].every(isDecodable)) return UNREADABLE;
  const database = pathname.replaceAll(/^\/|\/$/g, '') || (searchParams.get('db') ?? 0);
  return isDatabase(database) ? undefined : NO_DATABASE;
}

/** A number, or its text. */
export function isDatabase(value: unknown): boolean {
  return ['string', 'number'].includes(typeof value) && /^\d+$/.test(String(value));
}
