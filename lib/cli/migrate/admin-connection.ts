import type { Redis } from 'ioredis';
import { show } from '../../core/options/option-values.js';
import { CommandError, usageError } from '../output/command-error.js';
import { connect } from '../store/redis-stores.js';
import { storeDown } from './sides.js';

/** A connection of an administrator to one Redis server. */
export interface AdminConnection {
  readonly client: Redis;
  /** Its address, without the user. */
  readonly host: string;
}

/** Throws `CommandError` for what is no URL of a Redis, and for a server that does not answer. */
export async function openAdmin(name: 'from' | 'to', url: unknown): Promise<AdminConnection> {
  if (typeof url !== 'string')
    throw usageError(`--${name} must be the URL of a Redis, got ${show(url)}`);
  const client = clientOf(name, url);
  let reason: unknown = 'no connection';
  client.on('error', (error) => (reason = error));
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    client.disconnect();
    throw storeDown(name, isOfServer(error) ? error : reason);
  }
  return { client, host: new URL(url).host };
}

/** The server has refused the command. */
export function isOfServer(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

function clientOf(name: string, url: string): Redis {
  try {
    return connect(url, { lazyConnect: true, retryStrategy: retryTwice, maxRetriesPerRequest: 2 });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw usageError(`--${name}: ${error.message}`);
  }
}

/** Milliseconds until the next attempt to connect. */
function retryTwice(times: number): number | null {
  return times > 2 ? null : 200;
}
