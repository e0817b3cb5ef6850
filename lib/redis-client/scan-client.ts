import type { RedisClient } from './redis-client.js';

/** The part of a client that lists names. They come with the client's `keyPrefix`. */
export interface ScanClient extends RedisClient {
  scan(
    cursor: string,
    match: 'MATCH',
    pattern: string,
    count: 'COUNT',
    number: number,
    type: 'TYPE',
    ofType: string,
  ): Promise<unknown>;
  info?(section: string): Promise<unknown>;
  cluster?(subcommand: 'NODES'): Promise<unknown>;
}

export function canScan(client: RedisClient): client is ScanClient {
  return typeof (client as Partial<ScanClient>).scan === 'function';
}

/** The start of a name as a glob of the server. */
export function globOfStart(start: string): string {
  return `${start.replace(/[\\*?[\]^-]/g, '\\$&')}*`;
}
