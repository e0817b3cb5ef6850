import type { EtcdServer } from '../../../support/servers/etcd-server.js';

/** A key of etcd as `etcdctl` would show it. */
export interface Entry {
  readonly key: string;
  readonly value: string;
  readonly createRevision: bigint;
  readonly lease: string;
}

interface RawEntry {
  readonly key: string;
  readonly value?: string;
  readonly create_revision: string;
  readonly lease?: string;
}

/** All that is stored, in the order of creation. */
export async function contentOf(server: EtcdServer): Promise<Entry[]> {
  const everything = {
    key: 'AA==',
    range_end: 'AA==',
    sort_target: 'CREATE',
    sort_order: 'ASCEND',
  };
  const { kvs = [] } = (await server.ask('/v3/kv/range', everything)) as { kvs?: RawEntry[] };
  return kvs.map(({ key, value = '', create_revision, lease = '0' }) => ({
    key: Buffer.from(key, 'base64').toString(),
    value: Buffer.from(value, 'base64').toString(),
    createRevision: BigInt(create_revision),
    lease,
  }));
}

export function put(server: EtcdServer, key: string, value: string, lease = '0'): Promise<unknown> {
  return server.ask('/v3/kv/put', { key: base64(key), value: base64(value), lease });
}

export function remove(server: EtcdServer, key: string): Promise<unknown> {
  return server.ask('/v3/kv/deleterange', { key: base64(key) });
}

/** The revision of the last change. */
export async function revisionOf(server: EtcdServer): Promise<bigint> {
  const { header } = (await server.ask('/v3/kv/range', { key: 'AA==' })) as {
    header: { revision: string };
  };
  return BigInt(header.revision);
}

/** Forgets what was before the last change. */
export async function compact(server: EtcdServer): Promise<void> {
  await server.ask('/v3/kv/compaction', { revision: String(await revisionOf(server)) });
}

/** A number of `/metrics`, by the start of its line. */
export async function metric(server: EtcdServer, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  if (!line) throw new Error(`no such metric: ${name}`);
  return Number(line.slice(name.length + 1));
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
