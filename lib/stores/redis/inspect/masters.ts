import { createHash } from 'node:crypto';
import { isClusterClient, nodeName } from '../../../redis-client/cluster-client.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';
import { canScan } from '../../../redis-client/scan-client.js';
import type { ScanClient } from '../../../redis-client/scan-client.js';

/** A server that has locks. */
export interface Master {
  /** Empty where there is only one. */
  readonly name: string;
  readonly client: ScanClient;
}

/** The servers behind a client, in an order of their names. */
export function mastersOf(client: RedisClient): Master[] {
  if (!isClusterClient(client)) return canScan(client) ? [{ name: '', client }] : [];
  return client
    .nodes('master')
    .flatMap((node) => (canScan(node) ? [{ name: nodeName(node), client: node }] : []))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Another one after a restart or a failover: the cursors of SCAN mean nothing then. Empty where the server does not tell it. */
export function runIdOf({ client }: Master): Promise<string> {
  return fieldOf(client.info?.('server'), 'run_id');
}

/** Another one after a slot has moved: a list may have passed its new master before. */
export async function layoutOf(client: RedisClient, { client: asked }: Master): Promise<string> {
  if (!isClusterClient(client)) return '';
  const epoch = await fieldOf(asked.cluster?.('INFO'), 'cluster_current_epoch');
  const slots = Array.from(client.slots, (nodes) => nodes?.[0]).join();
  return createHash('sha256').update(`${epoch} ${slots}`).digest('base64url').slice(0, 8);
}

/** Never rejects: a server may forbid the command. */
async function fieldOf(asked: Promise<unknown> | undefined, name: string): Promise<string> {
  const text = await Promise.resolve(asked).catch(() => '');
  return new RegExp(`^${name}:(\\w+)`, 'm').exec(String(text))?.[1] ?? '';
}
