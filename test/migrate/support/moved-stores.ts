import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { prepareStore } from '../../support/histories/prepare-store.js';
import type { StoreAddress } from '../../support/histories/workers/open-store.js';
import { EtcdServer } from '../../support/servers/etcd-server.js';
import { PostgresServer } from '../../support/servers/postgres-server.js';
import { RedisServer } from '../../support/servers/redis-server.js';

/** Milliseconds: the ttl of the workers, and the timeout of their sessions. */
export const TTL = 2_000;

/** The servers of a store that is left or moved to. */
export interface MovedStore extends AsyncDisposable {
  readonly address: StoreAddress;
  /** Its fencing tokens are its revisions, and its locks live by sessions. */
  readonly bySession?: true;
  /** By the credential of the old configuration. */
  readonly old: StoreAddress;
  letOldIn(): Promise<void>;
  /** Missing: a session outlives its credential, so that the operator has to end the old processes. */
  readonly shutOldOut?: () => Promise<void>;
}

type Starter = () => Promise<MovedStore>;

const redis: Starter = async () => {
  const server = await RedisServer.start();
  return {
    address: { kind: 'redis', address: server.url },
    old: { kind: 'redis', address: `redis://old:secret@127.0.0.1:${server.port}` },
    async letOldIn() {
      await server.command('ACL', 'SETUSER', 'old', 'on', '>secret', '~*', '&*', '+@all');
    },
    async shutOldOut() {
      await server.command('ACL', 'DELUSER', 'old');
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
};

const redlock: Starter = async () => {
  const nodes = await Promise.all([redis(), redis(), redis()]);
  await sleep(TTL + 3_000); // a node has no vote before all locks that it may have forgotten are over
  const of = (which: 'address' | 'old'): StoreAddress => {
    const urls = nodes.map((node) => node[which].address);
    return { kind: 'redlock', address: urls.join(',') };
  };
  return {
    address: of('address'),
    old: of('old'),
    async letOldIn() {
      await Promise.all(nodes.map((node) => node.letOldIn()));
    },
    async shutOldOut() {
      await Promise.all(nodes.map((node) => node.shutOldOut!()));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    },
  };
};

const postgres: Starter = async () => {
  const server = await PostgresServer.start();
  const address = { kind: 'postgres', address: server.url } as const;
  await prepareStore(address);
  const ask = (statement: string) => asked(server.url, statement);
  await ask('CREATE ROLE old SUPERUSER');
  const old = new URL(server.url);
  old.username = 'old';
  return {
    address,
    old: { kind: 'postgres', address: old.href },
    async letOldIn() {
      await ask('ALTER ROLE old LOGIN');
    },
    async shutOldOut() {
      await ask('ALTER ROLE old NOLOGIN');
      await ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'old'`); // prettier-ignore
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
};

async function asked(connectionString: string, statement: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

const etcd: Starter = async () => {
  const server = await EtcdServer.start();
  const address = { kind: 'etcd', address: server.url } as const;
  return {
    address,
    bySession: true,
    old: address,
    letOldIn: async () => undefined,
    [Symbol.asyncDispose]: () => server.stop(),
  };
};

/** By their names. */
export const MOVED_STORES = { Redis: redis, Redlock: redlock, PostgreSQL: postgres, etcd };
