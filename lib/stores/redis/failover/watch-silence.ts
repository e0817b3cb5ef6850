import { isClusterClient } from '../cluster-client.js';
import type { ClusterClient } from '../cluster-client.js';
import type { RedisClient } from '../redis-client.js';
import { SilenceWatch } from './silence-watch.js';
import type { WatchedConnection } from './silence-watch.js';

/**
 * Watches the connections of a client, and `others`, that come back by themselves. On a Cluster, where that is the one to a node, the client
 * reads the slots again.
 */
export function watchSilence(
  client: RedisClient,
  others: () => readonly WatchedConnection[],
  within: number,
): SilenceWatch {
  if (!isClusterClient(client))
    return new SilenceWatch(() => [...ownOf(client), ...others()], within);
  const refresh = () => client.refreshSlotsCache?.();
  return new SilenceWatch(() => allOf(client), within, refresh);
}

function ownOf(client: RedisClient): readonly WatchedConnection[] {
  return typeof client.options?.retryStrategy === 'function' ? [client] : [];
}

/** With the one on which it listens: when that is lost, ioredis looks for the next one. */
function allOf(client: ClusterClient): readonly WatchedConnection[] {
  const { subscriber } = client as ClusterSubscription;
  const listening = subscriber?.getInstance?.();
  return listening ? [...client.nodes('all'), listening] : client.nodes('all');
}

interface ClusterSubscription {
  readonly subscriber?: { getInstance?(): WatchedConnection | null };
}
