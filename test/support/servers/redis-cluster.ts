import { freeClusterPort } from '../processes/free-port.js';
import { RedisServer } from './redis-server.js';
import { sharedServer } from './shared-server.js';
import { until } from '../until.js';

const SLOTS = 16_384;
const CLUSTER_ARGS = [
  ['--cluster-enabled', 'yes'],
  ['--cluster-node-timeout', '2000'],
  ['--cluster-announce-ip', '127.0.0.1'], // a node that met no other does not know its own
  ['--repl-ping-replica-period', '1'], // a replica is not listed before it has heard of anything
].flat();
const PATIENCE = { within: 30_000, every: 50 };

type SlotRange = readonly [first: number, last: number, ...nodes: (readonly [string, number])[]];

/** A Redis Cluster whose masters share the slots evenly. One node gives a cluster that owns them all. */
export class RedisCluster implements AsyncDisposable {
  /** `replicas` is the number for each master. */
  static async start(masters = 3, replicas = 0): Promise<RedisCluster> {
    const nodes: RedisServer[] = [];
    for (let index = 0; index < masters * (1 + replicas); index += 1) {
      nodes.push(await RedisServer.start({ args: CLUSTER_ARGS, choosePort: freeClusterPort }));
    }
    const cluster = new RedisCluster(nodes);
    await cluster.#shareSlots(nodes.slice(0, masters));
    await cluster.#meet();
    for (const [index, replica] of nodes.slice(masters).entries())
      await cluster.#replicate(nodes[index % masters]!, replica);
    return cluster;
  }

  /** The one of this Jest worker, with three masters, empty: for specs that neither break nor configure it. */
  static shared(): Promise<RedisCluster> {
    return sharedServer('redis-cluster');
  }

  private constructor(readonly nodes: readonly RedisServer[]) {}

  /** For `new Redis.Cluster(cluster.startupNodes)`. */
  get startupNodes(): { host: string; port: number }[] {
    return this.nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  /** For `createCluster(cluster.nodeRedis)` of node-redis. */
  get nodeRedis(): { rootNodes: { socket: { host: string; port: number } }[] } {
    return { rootNodes: this.startupNodes.map((socket) => ({ socket })) };
  }

  /** The master of a slot, then its replicas, as a node that lives sees it. */
  async serving(slot: number): Promise<RedisServer[]> {
    const ranges = (await this.#alive[0]!.command('CLUSTER', 'SLOTS')) as SlotRange[];
    const [, , ...serving] = ranges.find(([first, last]) => first <= slot && slot <= last)!;
    return serving.map(([, port]) => this.nodes.find((node) => node.port === port)!);
  }

  /** The replica hears of nothing, until it is resumed: bytes on their way to a stopped process still reach it. */
  async deafen(slot: number): Promise<RedisServer> {
    const [master, replica] = await this.serving(slot);
    replica!.pause();
    await master!.command('CLIENT', 'KILL', 'TYPE', 'replica');
    return replica!;
  }

  /** Resolves when another node than `before` serves the slot, and every node that lives knows. */
  async promoted(slot: number, before: RedisServer): Promise<void> {
    await until(
      async () => {
        const [master] = await this.serving(slot);
        return master !== before && (await this.#isFine());
      },
      { ...PATIENCE, what: 'a replica to be promoted' },
    );
  }

  /** A node that crashed comes back empty, with another id, as a replica of the master of the slot. */
  async rejoin(node: RedisServer, oldId: string, slot: number): Promise<void> {
    const [master] = await this.serving(slot);
    for (const each of this.#alive) await each.command('CLUSTER', 'FORGET', oldId);
    await node.restart();
    await master!.command('CLUSTER', 'MEET', '127.0.0.1', node.port);
    await until(() => this.#isFine(), { ...PATIENCE, what: 'a node to be back' });
    await this.#replicate(master!, node);
  }

  /** See `ServerProcess`. */
  share(): void {
    for (const node of this.nodes) node.share();
  }

  async clear(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.clear()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.remove()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  get #alive(): RedisServer[] {
    return this.nodes.filter(({ pid }) => pid !== undefined);
  }

  async #shareSlots(masters: readonly RedisServer[]): Promise<void> {
    const share = Math.ceil(SLOTS / masters.length);
    await Promise.all(
      masters.map(async (node, index) => {
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
    const what = 'the cluster to be formed';
    await until(() => this.#isFine(), { ...PATIENCE, what });
  }

  async #replicate(master: RedisServer, replica: RedisServer): Promise<void> {
    await replica.command('CLUSTER', 'REPLICATE', String(await master.command('CLUSTER', 'MYID')));
    const isInStep = async () => ((await replica.command('ROLE')) as unknown[])[3] === 'connected';
    const isKnown = async (node: RedisServer) => {
      const ranges = (await node.command('CLUSTER', 'SLOTS')) as SlotRange[];
      return ranges.some((range) => range.slice(3).some((each) => (each as [string, number])[1] === replica.port)); // prettier-ignore
    };
    await until(
      async () => (await isInStep()) && (await Promise.all(this.nodes.map(isKnown))).every(Boolean),
      { ...PATIENCE, what: 'a replica to be in step' },
    );
  }

  /** Every node that lives knows every node, and serves. */
  async #isFine(): Promise<boolean> {
    const infos = await Promise.all(this.#alive.map((node) => node.command('CLUSTER', 'INFO')));
    return infos.every((info) => {
      const knowsAll = String(info).includes(`cluster_known_nodes:${this.nodes.length}\r`);
      return knowsAll && String(info).includes('cluster_state:ok');
    });
  }
}
