import type { ZooKeeperServer } from '../../../support/servers/zookeeper-server.js';

/** The nodes of holders and waiters, as the server knows them. In an ensemble, only the leader does. */
export async function ephemeralNodes(server: ZooKeeperServer): Promise<string[]> {
  const dump = await server.word('dump');
  return [...dump.matchAll(/^\t(\/.*)$/gm)].map(([, path]) => path!).toSorted();
}
