import { createHash } from 'node:crypto';
import { isClusterClient, nodeName } from '../../../redis-client/cluster-client.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';
import { driverError } from '../../../redis-client/driver-error.js';
import { canScan } from '../../../redis-client/scan-client.js';
import type { ScanClient } from '../../../redis-client/scan-client.js';

/** A server that has locks. */
export interface Master {
  /** Empty where there is only one. */
  readonly name: string;
  readonly client: ScanClient;
}

export interface Layout {
  readonly masters: readonly Master[];
  /** Empty where there is only one. */
  readonly stamp: string;
}

/** A master's view of its Cluster. */
interface View {
  readonly master: Master;
  readonly id: string;
  /** The masters to which it moves slots. */
  readonly movesTo: readonly string[];
  readonly seen: readonly string[];
}

/** The servers behind a client, in an order of their names. */
function mastersOf(client: RedisClient): Master[] {
  if (!isClusterClient(client)) return canScan(client) ? [{ name: '', client }] : [];
  return client
    .nodes('master')
    .flatMap((node) => (canScan(node) ? [{ name: nodeName(node), client: node }] : []))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Another one after a restart or a failover: the cursors of SCAN mean nothing then. Empty where the server does not tell it. */
export async function runIdOf({ client }: Master): Promise<string> {
  const text = await Promise.resolve(client.info?.('server')).catch(() => '');
  return /^run_id:(\w+)/m.exec(String(text))?.[1] ?? '';
}

/** The masters in the order of a walk, and what it rests on: another one when slots have moved, or are moved elsewhere. */
export async function layoutOf(client: RedisClient): Promise<Layout> {
  await findMasters(client);
  const masters = mastersOf(client);
  if (!isClusterClient(client)) return { masters, stamp: '' };
  const views = await Promise.all(masters.map((master) => viewOf(master)));
  const hash = createHash('sha256').update(JSON.stringify(views.map(({ seen }) => seen)));
  return { masters: sourcesFirst(views), stamp: hash.digest('base64url').slice(0, 8) };
}

/** A Cluster client that has not connected yet knows no master, until a command makes it look. */
async function findMasters(client: RedisClient): Promise<void> {
  if (!isClusterClient(client) || client.nodes('master').length > 0 || !canScan(client)) return;
  await client.scan('0', 'MATCH', '', 'COUNT', 1, 'TYPE', 'string').catch((error: unknown) => {
    throw driverError(error);
  });
}

/** A lock that moves is then found at its old master, or later at the new one. */
function sourcesFirst(views: readonly View[]): Master[] {
  const left = [...views];
  const sorted: Master[] = [];
  while (left.length > 0) {
    const isFed = ({ id }: View) => left.some(({ movesTo }) => movesTo.includes(id));
    const next = left.findIndex((each) => !isFed(each));
    sorted.push(...left.splice(Math.max(0, next), 1).map(({ master }) => master));
  }
  return sorted;
}

/** From its own line: id, address, flags, master, ping, pong, epoch, link, and then its slots. */
async function viewOf(master: Master): Promise<View> {
  const line = await ownLine(master);
  const [id = '', , , , , , epoch = '', , ...slots] = line.split(' ');
  const movesTo = slots.flatMap((slot) => /^\[\d+->-(\w+)\]$/.exec(slot)?.[1] ?? []);
  return { master, id, movesTo, seen: [master.name, id, epoch, ...slots] };
}

/** Empty where the server forbids the command. */
async function ownLine({ client }: Master): Promise<string> {
  const text = await Promise.resolve(client.cluster?.('NODES')).catch(() => '');
  return /^\w+ \S+ \S*myself.*$/m.exec(String(text))?.[0] ?? '';
}
