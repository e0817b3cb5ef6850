import { Redis } from 'ioredis';
import { RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast/core';
import { type ConformanceFeature, lockStoreConformance } from 'nest-holdfast/testing';
import type { RedisCluster } from '../../support/servers/redis-cluster.js';
import { disconnect } from './locks.js';

export type AnyClient = ConstructorParameters<typeof RedisLockStore>[0] &
  Parameters<typeof disconnect>[0];

export interface ConformanceSuite {
  readonly lacks?: readonly ConformanceFeature[];
  readonly disconnect?: (() => Promise<void>) | undefined;
  /** Checks that are skipped, and why. */
  readonly skips?: readonly [name: RegExp, reason: string] | undefined;
}

/** Milliseconds: a busy machine is no hung server. */
export const PATIENT = 60_000;

/** Two clients stand for two processes. */
export function conformance(
  open: () => AnyClient,
  options: RedisLockStoreOptions = {},
  { lacks = [], disconnect: cut, skips }: ConformanceSuite = {},
): void {
  const clients: AnyClient[] = [];
  let opened = 0;
  beforeAll(() => void clients.push(open(), open()));
  afterAll(() => clients.forEach(disconnect));
  const test = (name: string, run: () => Promise<void>) =>
    skips?.[0].test(name) ? it.skip(`${name} (${skips[1]})`, run) : it(name, run);
  lockStoreConformance({
    test: Object.assign(test, { skip: it.skip }),
    lacks: ['sessions', 'globalTokens', ...lacks],
    ...(cut && { disconnect: cut }),
    createStore: () =>
      new RedisLockStore(clients[opened++ % 2]!, { silenceTimeout: PATIENT, ...options }),
  });
}

export function onCluster(cluster: () => RedisCluster): ConformanceSuite {
  return {
    lacks: ['manyKeys', 'extendMany'],
    disconnect: () => cutClientsOf(cluster()),
  };
}

/** Ends every connection to a master: its clients may come back to another one. */
async function cutClientsOf({ startupNodes }: RedisCluster): Promise<void> {
  for (const { host, port } of startupNodes) {
    const admin = new Redis(port, host);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    admin.disconnect();
  }
}
