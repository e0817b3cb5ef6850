import type { RedisCluster } from './redis-cluster.js';
import type { RedisServer } from './redis-server.js';

/** One slot of a Cluster on its way from its master to another one, step by step. */
export class SlotMigration {
  static async start(cluster: RedisCluster, slot: number): Promise<SlotMigration> {
    const [from] = await cluster.serving(slot);
    const [to] = await cluster.serving((slot + 6_000) % 16_384);
    const ids = await Promise.all([from!, to!].map((node) => node.command('CLUSTER', 'MYID')));
    await to!.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(ids[0]));
    await from!.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(ids[1]));
    return new SlotMigration(slot, from!, to!, String(ids[1]));
  }

  private constructor(
    readonly slot: number,
    readonly from: RedisServer,
    readonly to: RedisServer,
    private readonly targetId: string,
  ) {}

  async move(key: string): Promise<void> {
    await this.from.command('MIGRATE', '127.0.0.1', this.to.port, key, 0, 5_000);
  }

  async moveAll(): Promise<void> {
    const left = await this.from.command('CLUSTER', 'GETKEYSINSLOT', this.slot, 100);
    for (const key of left as string[]) await this.move(key);
  }

  /** Moves what is left, and hands the slot over. */
  async finish(): Promise<void> {
    await this.moveAll();
    for (const node of [this.to, this.from]) {
      await node.command('CLUSTER', 'SETSLOT', this.slot, 'NODE', this.targetId);
    }
  }
}
