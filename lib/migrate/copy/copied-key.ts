import { COUNTER_SECONDS } from '../../stores/redis/lua/fencing-token.js';
import type { AdminServer } from './admin-client.js';
import type { LockKeys } from './lock-keys.js';

/** Copies one key by its value: `DUMP` does not cross versions, and carries absolute times. */
export interface CopiedKeys {
  readonly from: AdminServer;
  readonly to: AdminServer;
  readonly keys: LockKeys;
  /** Milliseconds by which the clock of `to` is ahead of that of `from`, at least. */
  readonly ahead: number;
}

/** Whether it was a lock that is held. A key that ends meanwhile is left out. */
export async function copyKey(copy: CopiedKeys, name: string): Promise<boolean> {
  if (copy.keys.isLine(name)) return false;
  const type = await copy.from.text('TYPE', name);
  if (type === 'zset') return copySharers(copy, name);
  if (type !== 'string') return false; // of another program, or it has ended
  if (copy.keys.isCounter(name)) return copyCounter(copy, name);
  return copyLock(copy, name);
}

/** Its rest counts from now on: it ends later than at `from`, never earlier. */
async function copyLock({ from, to }: CopiedKeys, name: string): Promise<boolean> {
  const [value, rest] = await Promise.all([from.call('GET', name), from.call('PTTL', name)]);
  if (typeof value !== 'string' || Number(rest) === -2) return false;
  // In its last millisecond a key has a rest of 0: without an expiry it would be held for ever.
  const expiry = Number(rest) === -1 ? [] : ['PX', Math.max(1, Number(rest))];
  await to.call('SET', name, value, ...expiry);
  return true;
}

async function copyCounter({ from, to }: CopiedKeys, name: string): Promise<boolean> {
  const counter = await from.call('GET', name);
  if (typeof counter === 'string') await to.call('SET', name, counter, 'EX', COUNTER_SECONDS);
  return false;
}

/** The ends of their ttls are times of the server. */
async function copySharers({ from, to, ahead }: CopiedKeys, name: string): Promise<boolean> {
  const sharers = (await from.list('ZRANGE', name, 0, -1, 'WITHSCORES')).flat(); // RESP3 has pairs
  const entries: (string | number)[] = [];
  let latest = 0;
  for (let at = 0; at < sharers.length; at += 2) {
    const end = Math.ceil(Number(sharers[at + 1]) + ahead);
    latest = Math.max(latest, end);
    entries.push(end, String(sharers[at]));
  }
  if (entries.length === 0) return false;
  await to.call('ZADD', name, ...entries);
  await to.call('PEXPIREAT', name, latest);
  return false;
}
