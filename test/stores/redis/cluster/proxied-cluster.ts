import { clusterSlot } from '../../../../lib/redis-client/cluster-slot.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';

const HOST = '127.0.0.1';

/** A Cluster of three masters, each behind a proxy. */
export class ProxiedCluster implements AsyncDisposable {
  static async start(): Promise<ProxiedCluster> {
    const cluster = await RedisCluster.start(3);
    const proxies = await Promise.all(cluster.nodes.map(({ port }) => TcpProxy.start(port)));
    return new ProxiedCluster(cluster, proxies);
  }

  private constructor(
    readonly cluster: RedisCluster,
    readonly proxies: readonly TcpProxy[],
  ) {}

  /** For `createCluster(…)` of node-redis. The nodes name themselves: the client knows where they are reached. */
  get nodeRedis() {
    const { nodes } = this.cluster;
    const ports = new Map(
      nodes.map(({ port }, index) => [`${HOST}:${port}`, this.proxies[index]!.port]),
    );
    return {
      rootNodes: this.proxies.map(({ port }) => ({ socket: { host: HOST, port } })),
      nodeAddressMap: (name: string) => ({ host: HOST, port: ports.get(name)! }),
    };
  }

  get accepted(): number {
    return this.proxies.reduce((sum, proxy) => sum + proxy.accepted, 0);
  }

  get connections(): number {
    return this.proxies.reduce((sum, proxy) => sum + proxy.connections, 0);
  }

  async isTaken(key: string): Promise<boolean> {
    const [master] = await this.cluster.serving(clusterSlot(`lock:${key}`));
    return (await master!.command('EXISTS', `lock:${key}`)) === 1;
  }

  dropReplies(): void {
    for (const proxy of this.proxies) proxy.replies.drop();
  }

  /** Cuts every connection. The next ones are sound. */
  reconnect(): void {
    for (const proxy of this.proxies) {
      proxy.pass();
      proxy.cutAll();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.stop()));
    await this.cluster.stop();
  }
}
