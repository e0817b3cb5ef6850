import type { RedisClient } from './redis-client.js';

/** One connection of a Cluster client. */
export interface ClusterNodeClient extends RedisClient {
  /** Lets the next command at a slot that is still being moved here. */
  asking(): Promise<unknown>;
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
  readonly status: string;
}

/** A Cluster client that tells which master serves which slot, and gives access to that master. */
export interface ClusterClient extends RedisClient {
  /** For each slot: `host:port` of its master, then of its replicas. */
  readonly slots: readonly (readonly string[] | undefined)[];
  refreshSlotsCache?(): void;
  nodes(role: 'all' | 'master'): readonly ClusterNodeClient[];
  on(event: string, listener: (node: ClusterNodeClient) => void): unknown;
  off(event: string, listener: (node: ClusterNodeClient) => void): unknown;
}

export function isClusterClient(client: RedisClient): client is ClusterClient {
  const { isCluster, slots, nodes, on, off } = client as Partial<ClusterClient>;
  const hasMethods = [nodes, on, off].every((method) => typeof method === 'function');
  return isCluster === true && Array.isArray(slots) && hasMethods;
}

/** The name of a node in `slots`. */
export function nodeName({ options }: ClusterNodeClient): string {
  return `${options?.host}:${options?.port}`;
}
