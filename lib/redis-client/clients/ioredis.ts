import type { RedisClient, SubscribableClient, SubscriberClient } from '../redis-client.js';

/** A subscriber, which is the store's own where it can be disconnected. */
export type OpenSubscriber = SubscriberClient & { disconnect?(): void };

/** For a connection of our own, which has to reconnect whatever happens to the other one. */
const SUBSCRIBER_OPTIONS = {
  enableOfflineQueue: true,
  lazyConnect: false,
  autoResubscribe: false, // ioredis does not let its failure be caught; `ready` subscribes again
  commandTimeout: undefined, // it would count while the connection is established
  maxRetriesPerRequest: null,
  retryStrategy: (attempt: number) => Math.min(attempt * 50, 2_000),
};

/** On the client itself where that allows it, else on one more connection. */
export function openSubscriber(client: SubscribableClient): OpenSubscriber {
  return listensBesides(client) ? client : client.duplicate(SUBSCRIBER_OPTIONS);
}

/** The server's answer to a subscription. ioredis rejects it, too, with what the server says to other commands. */
export function isRefusedSubscription(error: unknown): boolean {
  const { name, command } = error as Error & { readonly command?: { readonly name: string } };
  return name === 'ReplyError' && command?.name === 'subscribe';
}

/**
 * Whether a subscribed client stays usable for other commands. A Cluster has a connection for it. A client that subscribes again
 * by itself would end the process when the server forbids it.
 */
function listensBesides({ isCluster, options }: RedisClient): boolean {
  return isCluster === true || (options?.protocol === 3 && options.autoResubscribe === false);
}
