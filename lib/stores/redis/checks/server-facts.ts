import { wallClock } from '../../../core/async/clock.js';
import type { WatchableClient } from '../failover/server-link.js';
import { asText, asTime } from '../lua/replies.js';

/** A server's settings. The server may withhold some, which are missing: a managed one forbids much. */
export interface ServerFacts {
  /** `maxmemory-policy`. */
  readonly eviction: string | undefined;
  /** Whether it keeps an append-only file. */
  readonly keepsFile: boolean | undefined;
  /** Milliseconds by which its clock is ahead of that of this process, at least; negative: behind. */
  readonly clockAhead: number | undefined;
}

/** New for every start of a server. Never rejects; `undefined` where the server does not tell. */
export async function readRunId(client: WatchableClient): Promise<string | undefined> {
  return fieldOf(await infoOf(client, 'server'), 'run_id');
}

/** Never rejects. `CONFIG` would tell no more, and managed servers forbid it. */
export async function readFacts(client: WatchableClient): Promise<ServerFacts> {
  const [memory, persistence, clockAhead] = await Promise.all([
    infoOf(client, 'memory'),
    infoOf(client, 'persistence'),
    readClock(client),
  ]);
  const file = fieldOf(persistence, 'aof_enabled');
  return {
    eviction: fieldOf(memory, 'maxmemory_policy'),
    keepsFile: file === undefined ? undefined : file === '1',
    clockAhead,
  };
}

async function infoOf(client: WatchableClient, section: string): Promise<string | undefined> {
  try {
    return asText(await client.info(section));
  } catch {
    return undefined; // forbidden, or the connection is gone
  }
}

/** The server read its clock between the two moments: only the certain part of the difference counts. */
async function readClock(client: WatchableClient): Promise<number | undefined> {
  const sentAt = wallClock();
  try {
    const time = asTime(await client.time());
    const [most, least] = [time - sentAt, time - wallClock()];
    return least > 0 ? least : Math.min(most, 0);
  } catch {
    return undefined;
  }
}

function fieldOf(info: string | undefined, name: string): string | undefined {
  return info === undefined ? undefined : new RegExp(`^${name}:(.+?)\\r?$`, 'm').exec(info)?.[1];
}
