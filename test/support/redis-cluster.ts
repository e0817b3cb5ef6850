import { freeClusterPort } from './free-port.js';
import { RedisServer } from './redis-server.js';
import { until } from './until.js';

const SLOTS = 16_384;
const CLUSTER_ARGS = [
  ['--cluster-enabled', 'yes'],
  ['--cluster-node-timeout', '2000'],
  ['--cluster-announce-ip', '127.0.0.1'], // a node that met nobody does not know its own
].flat();

/** A Redis Cluster of masters only, which share the slots evenly. One node gives a cluster that owns them all. */
export class RedisCluster implements AsyncDisposable {
  static async start(masters = 3): Promise<RedisCluster> {
    const nodes: RedisServer[] = [];
    for (let index = 0; index < masters; index += 1) {
      nodes.push(await RedisServer.start({ args: CLUSTER_ARGS, choosePort: freeClusterPort }));
    }
    const cluster = new RedisCluster(nodes);
    await cluster.#shareSlots();
    await cluster.#meet();
    return cluster;
  }

  private constructor(readonly nodes: readonly RedisServer[]) {}

  /** For `new Redis.Cluster(cluster.startupNodes)`. */
  get startupNodes(): { host: string; port: number }[] {
    return this.nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #shareSlots(): Promise<void> {
    const share = Math.ceil(SLOTS / this.nodes.length);
    await Promise.all(
      this.nodes.map(async (node, index) => {
        const first = index * share;
        const count = Math.min(share, SLOTS - first);
        const slots = Array.from({ length: count }, (_, offset) => first + offset);
        await node.command('CLUSTER', 'ADDSLOTS', ...slots);
        await node.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1); // spares the nodes to settle a collision
      }),
    );
  }

  async #meet(): Promise<void> {
    const [first, ...others] = this.nodes;
    for (const { port } of others) await first!.command('CLUSTER', 'MEET', '127.0.0.1', port);
    for (const node of this.nodes) {
      await until(
        async () => {
          const info = String(await node.command('CLUSTER', 'INFO'));
          const knowsAll = info.includes(`cluster_known_nodes:${this.nodes.length}\r`);
          return knowsAll && info.includes('cluster_state:ok');
        },
        { within: 20_000, every: 50, what: 'the cluster to be formed' },
      );
    }
  }
}
