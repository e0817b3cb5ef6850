import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from './answers.js';

const REFUSED = 'LOCK_DASHBOARD_FOREIGN_REQUEST';

/**
 * Throws `Refusal` unless the page itself sent the request: no form and no simple request of another page has JSON and the header,
 * and a browser tells the origin of any other one.
 */
export function checkOwnOrigin(headers: IncomingHttpHeaders): void {
  const type = headers['content-type']?.split(';')[0]!.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new Refusal(415, REFUSED, 'The content-type must be application/json');
  }
  if (headers['x-holdfast'] !== '1') {
    throw new Refusal(403, REFUSED, 'The header x-holdfast: 1 is missing');
  }
  if (!isOwn(headers)) throw new Refusal(403, REFUSED, 'The request comes from another origin');
}

/**
 * A proxy may have changed `host`. A page of another origin sets neither it nor `x-forwarded-host`, for which it would have to be
 * allowed first.
 */
function isOwn(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  if (origin === undefined || !URL.canParse(origin)) return false;
  const hosts = [host, headers[':authority'], headers['x-forwarded-host']];
  return hosts.includes(new URL(origin).host);
}
