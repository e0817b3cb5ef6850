import type { Call } from './open-calls.js';
import { checkNode } from './zookeeper-answers.js';
import type { Done, Stat, ZooKeeperClient } from './zookeeper-client.js';

export interface NodeContent {
  readonly data: Buffer;
  readonly czxid: bigint;
  /** Made by this session, and ends with it. */
  readonly isOurs: boolean;
}

/** A node as the client reads it. */
export interface RawNode {
  readonly data: Buffer;
  readonly stat: Stat;
}

const NO_DATA = Buffer.alloc(0);

export function readingOf(client: ZooKeeperClient, path: string): Call<RawNode> {
  const send = (done: Done<RawNode>) =>
    client.getData(path, (error, data, stat) => done(error, { data: data ?? NO_DATA, stat }));
  return { path, isWrite: false, check: checkNode, send };
}

/** As the session `id` sees it. */
export function contentOf({ data, stat }: RawNode, id: Buffer): NodeContent {
  const isOurs = stat.ephemeralOwner.equals(id);
  return { data, isOurs, czxid: stat.czxid.readBigInt64BE() };
}
