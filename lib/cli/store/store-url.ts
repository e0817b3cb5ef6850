import { isDecodable } from '../../core/text/decodable.js';
import { usageError } from '../output/command-error.js';

/** The part of an address of a store in front of its first colon. */
export function schemeOf(url: string): string {
  return /^([a-z][a-z\d+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? '';
}

/** Parts of an address with several hosts, of which `URL` reads one only. */
export interface ServerAddress {
  readonly hosts: readonly string[];
  readonly user?: { readonly name: string; readonly password: string };
  /** Behind the hosts, without the `/` at its end. */
  readonly path: string;
}

/** Reads `scheme://user:password@host:1,host:2/path`. Throws `CommandError`, which repeats nothing of it. */
export function parseServers(url: string): ServerAddress {
  const [, userInfo, hosts, path = ''] =
    /^[^:]+:\/\/(?:(.*)@)?([^@/?#]+)(\/[^?#]*)?$/.exec(url) ?? [];
  if (hosts === undefined) throw unreadable(schemeOf(url));
  const address = { hosts: hosts.split(',').filter(Boolean), path: path.replace(/\/+$/, '') };
  if (userInfo === undefined) return address;
  const [name = '', ...password] = userInfo.split(':');
  try {
    const user = {
      name: decodeURIComponent(name),
      password: decodeURIComponent(password.join(':')),
    };
    return { ...address, user };
  } catch {
    throw unreadable(schemeOf(url));
  }
}

/** Throws `CommandError` for an address that cannot be read, and for one without a host. */
export function checkUrl(url: string): void {
  if (!URL.canParse(url) || new URL(url).host === '') throw unreadable(schemeOf(url));
}

/** Throws `CommandError` also for a user or a password that cannot be decoded. */
export function checkDecodable(url: string): void {
  checkUrl(url);
  const { username, password } = new URL(url);
  if (![username, password].every(isDecodable)) throw unreadable(schemeOf(url));
}

function unreadable(scheme: string): Error {
  return usageError(
    `the URL cannot be read as ${scheme}://user:password@host:port: "/", "#", "?", "%" and "@" in a password have to be escaped, by encodeURIComponent`,
  );
}
