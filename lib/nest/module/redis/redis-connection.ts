import { Logger } from '@nestjs/common';
import type { Cluster, ClusterNode, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import { reasonOf } from '../../../core/contract/safe-error.js';
import { show } from '../../../core/options/option-values.js';
import { optionError } from '../../../core/options/option-error.js';
import { checkUsable, isGivenClient } from '../../../redis-client/clients/client-of.js';
import type { GivenClient } from '../../../redis-client/clients/client-of.js';
import { leaveOtherDatabase } from '../../../redis-client/refused-database.js';
import { wrongOfUrl } from '../../../redis-client/redis-url.js';
import { closeGivenClient } from './close-client.js';
import { clientOptions, clusterOptions } from './redis-defaults.js';
import { checkRedisOptions } from './redis-option-names.js';
import type { SilenceLimits } from './redis-defaults.js';

/**
 * Where Redis is: a URL, options of ioredis (with `sentinels` and `name` for Sentinel), nodes of a Cluster, a client of yours, of
 * ioredis or node-redis (it stays open), or a function that makes one (it is closed with the module).
 */
export type RedisSource =
  | string
  | RedisOptions
  | RedisClusterSource
  | GivenClient
  | (() => GivenClient | Promise<GivenClient>);

/** `{ cluster: [{ host, port }] }`, beside the options of ioredis for its `Cluster`. */
export interface RedisClusterSource extends ClusterOptions {
  /** Some of its nodes. They tell of the others. */
  readonly cluster: readonly ClusterNode[];
}

/** A client, and how to close it where the module opened it. */
export interface RedisConnection {
  readonly client: GivenClient;
  close(): Promise<void>;
}

/** `option` is how messages name the source: `redis`, or one of a list. Throws `TypeError`. */
export async function connectRedis(
  source: RedisSource,
  option: string,
  limits: SilenceLimits,
): Promise<RedisConnection> {
  if (isGivenClient(source)) return { client: source, close: async () => undefined };
  checkSource(source, option);
  const client =
    typeof source === 'function' ? await source() : await openClient(source, option, limits);
  if (!isGivenClient(client)) {
    const expected = `${option} must return a client of ioredis or node-redis`;
    checkUsable(client, expected);
    throw optionError(`${expected}, got ${show(client)}`);
  }
  return { client, close: () => closeGivenClient(client) };
}

function checkSource(source: unknown, option: string): void {
  const isText = typeof source === 'string' && source !== '';
  const isObject = typeof source === 'object' && source !== null && !Array.isArray(source);
  if (isText || isObject || typeof source === 'function') return;
  const expected =
    option === 'redis'
      ? 'a URL, options of ioredis, a client, a function or a list of these'
      : 'a URL, options of ioredis, a client or a function';
  throw optionError(`${option} must be ${expected}, got ${show(source)}`);
}

async function openClient(
  source: string | RedisOptions | RedisClusterSource,
  option: string,
  limits: SilenceLimits,
): Promise<Redis | Cluster> {
  const client = await newClient(source, option, limits);
  if (!client.isCluster) leaveOtherDatabase(client);
  const logger = new Logger('DistributedLockModule');
  let reported: string | undefined;
  client.on('error', (error: Error) => {
    const reason = reasonOf(error);
    if (reason !== reported) logger.error(`Redis: ${reason}`);
    reported = reason;
  });
  client.on('ready', () => (reported = undefined));
  return client;
}

async function newClient(
  source: string | RedisOptions | RedisClusterSource,
  option: string,
  limits: SilenceLimits,
): Promise<Redis | Cluster> {
  if (typeof source === 'string') checkUrl(source, option);
  else {
    checkServers(source);
    checkRedisOptions(source, option);
  }
  const { Cluster: ClusterClient, Redis: Client } = await loadIoredis();
  if (typeof source === 'string') return new Client(source, clientOptions({}, limits));
  if (!('cluster' in source)) return new Client(clientOptions(source, limits));
  const { cluster, ...options } = source;
  cluster.forEach((node, index) => {
    if (typeof node === 'string') checkUrl(node, `${option}.cluster[${index}]`);
  });
  return new ClusterClient([...cluster], clusterOptions(options, limits));
}

/** Refuses what ioredis would take for the path of a socket, or repeat in an error, with the password in it. */
function checkUrl(url: string, option: string): void {
  const isWhole = url.includes('://');
  if (!URL_OR_SERVER.test(url)) {
    const got = isWhole ? show(url) : 'another string'; // of Azure, say, with the password in the middle
    throw optionError(`${option} must begin with redis:// or rediss://, got ${got}`);
  }
  if (url.startsWith('/')) return;
  const wrong = wrongOfUrl(isWhole ? url : `redis://${url}`);
  if (wrong !== undefined) throw optionError(`${option} has a URL that ${wrong}`);
}

/** Also the path of a socket; a port; a host, which may have a port and parameters. */
const URL_OR_SERVER = /^(rediss?:\/\/|\/|[\w.:[\]-]+(\?[^\s/@"']*)?$)/i;

/** ioredis would accept a Cluster without nodes, and fail at the first command. */
function checkServers(source: RedisOptions | RedisClusterSource): void {
  const { cluster, sentinels, name } = source as Partial<RedisClusterSource & RedisOptions>;
  if ('cluster' in source && !isList(cluster)) {
    throw optionError('redis.cluster must be a list of nodes: [{ host, port }]');
  }
  if ('cluster' in source && sentinels) {
    throw optionError('give either redis.cluster or redis.sentinels, not both');
  }
  if (sentinels === undefined || sentinels === null) return;
  if (!isList(sentinels)) {
    throw optionError('redis.sentinels must be a list of sentinels: [{ host, port }]');
  }
  if (typeof name !== 'string' || name === '') {
    throw optionError('redis.sentinels needs redis.name, what the sentinels call the master');
  }
}

function isList(value: unknown): boolean {
  const isServer = (each: unknown) =>
    ['string', 'number'].includes(typeof each) || (typeof each === 'object' && each !== null);
  return Array.isArray(value) && value.length > 0 && value.every(isServer);
}

async function loadIoredis(): Promise<typeof import('ioredis')> {
  try {
    return await import('ioredis');
  } catch (cause) {
    throw new Error('forRoot({ redis }) needs the package ioredis: npm install ioredis', { cause });
  }
}
