import type { Call } from './pending-calls.js';
import { checkChildren, checkNode, checkStat } from './zookeeper-answers.js';
import type { Done, Stat, TransactionResult, ZooKeeperClient } from './zookeeper-client.js';

export interface NodeContent {
  readonly data: Buffer;
  readonly czxid: bigint;
  /** The last transaction that wrote to it. */
  readonly writtenAt: bigint;
  /** Milliseconds since 1970, by the clock of the leader. */
  readonly createdAt: number;
  /** This session has made it, and it ends with the session. */
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
  const createdAt = Number(stat.ctime.readBigInt64BE());
  const [czxid, writtenAt] = [stat.czxid, stat.mzxid].map((each) => each.readBigInt64BE());
  return { data, isOurs, czxid: czxid!, writtenAt: writtenAt!, createdAt };
}

/** The nodes below the node of a key. */
export interface Children {
  readonly names: readonly string[];
  /** The last transaction that wrote to the node, or the one that created it: see `nodes/numbering.ts`. */
  readonly numberedAt: bigint;
  /** The last transaction that made or removed a node below it. */
  readonly changedAt: bigint;
  /** How many nodes were made below it, until now. The number of the next sequential one. */
  readonly made: number;
}

/** As the client reads it. */
interface RawChildren {
  readonly names: readonly string[];
  readonly stat: Stat;
}

export function childrenReadingOf(client: ZooKeeperClient, path: string): Call<RawChildren> {
  const send = (done: Done<RawChildren>) =>
    client.getChildren(path, (error, names, stat) => done(error, { names, stat }));
  return { path, isWrite: false, check: checkChildren, send };
}

export function childrenOf({ names, stat }: RawChildren): Children {
  const [numberedAt, changedAt] = [stat.mzxid, stat.pzxid].map((id) => id.readBigInt64BE());
  const made = (stat.cversion + stat.numChildren) / 2; // `cversion` counts those that were removed, too
  return { names, numberedAt: numberedAt!, changedAt: changedAt!, made };
}

/** The transaction that wrote to a node. */
export function writtenBy({ stat }: TransactionResult): bigint {
  checkStat(stat);
  return stat.mzxid.readBigInt64BE();
}
