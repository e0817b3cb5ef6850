import { quoted } from '../../core/text/printable.js';
import { FencingTokenError } from '../holder/fencing-errors.js';
import { LARGEST_TOKEN, checkHolder } from '../holder/fenced-holder.js';
import type { FencedHolder } from '../holder/fenced-holder.js';

/** The request header that carries a fencing token, in decimal digits: `Fencing-Token: 1763717225000123`. */
export const FENCING_HEADER = 'Fencing-Token';

/** The header for a request that writes under `lock`: `fetch(url, { headers: fencingHeaders(lock) })`. */
export function fencingHeaders(holder: FencedHolder): { [FENCING_HEADER]: string } {
  return { [FENCING_HEADER]: String(checkHolder(holder).fencingToken) };
}

/** Headers as Node gives them: names in lower case. */
export type IncomingHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Throws `FencingTokenError` when it is missing, is not a token, or came twice. */
export function tokenIn(headers: IncomingHeaders | undefined, key: string): bigint {
  const value = headers?.[FENCING_HEADER.toLowerCase()];
  if (value === undefined) {
    const message = `The request for ${quoted(key)} needs the header ${FENCING_HEADER}`;
    throw new FencingTokenError(key, 'missing', message);
  }
  if (typeof value === 'string' && /^(0|[1-9]\d{0,18})$/.test(value)) {
    const token = BigInt(value);
    if (token <= LARGEST_TOKEN) return token;
  }
  const message = `The header ${FENCING_HEADER} of the request for ${quoted(key)} must be one whole number from 0 to ${LARGEST_TOKEN}`;
  throw new FencingTokenError(key, 'malformed', message);
}
