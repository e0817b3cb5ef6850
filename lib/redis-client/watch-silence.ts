import { SilenceWatch } from './silence-watch.js';
import type { WatchedConnection } from './silence-watch.js';

/** The part of an ioredis client, `Redis` or `Cluster`, that is needed. */
export interface ReconnectingClient extends WatchedConnection {
  readonly isCluster?: boolean | undefined;
  /** Without a strategy, a connection that is lost does not come back. */
  readonly options?: { readonly retryStrategy?: unknown } | undefined;
}

interface ClusterConnections {
  nodes?(role: 'all'): readonly WatchedConnection[];
  refreshSlotsCache?(): void;
  /** The subscribed connection: when it is lost, ioredis looks for the next one. */
  readonly subscriber?: { getInstance?(): WatchedConnection | null };
}

/**
 * Watches the connections of a client, and `others`, that reconnect by themselves. When the connection to a node of a Cluster is
 * given up, the client reads the slots again.
 */
export function watchSilence(
  client: ReconnectingClient,
  others: () => readonly WatchedConnection[],
  within: number,
): SilenceWatch {
  if (!client.isCluster) return new SilenceWatch(() => [...ownOf(client), ...others()], within);
  const cluster = client as ClusterConnections;
  const refresh = () => cluster.refreshSlotsCache?.();
  return new SilenceWatch(() => allOf(cluster), within, refresh);
}

function ownOf(client: ReconnectingClient): readonly WatchedConnection[] {
  return typeof client.options?.retryStrategy === 'function' ? [client] : [];
}

function allOf(client: ClusterConnections): readonly WatchedConnection[] {
  const listening = client.subscriber?.getInstance?.();
  const nodes = client.nodes?.('all') ?? [];
  return listening ? [...nodes, listening] : nodes;
}
