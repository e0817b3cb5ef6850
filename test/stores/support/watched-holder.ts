import type { Lease } from 'nest-holdfast';
import { aborted, inTime } from '../../support/faults/in-time.js';
import { until } from '../../support/until.js';

/** A beat each third or quarter of it, which also looks after the nodes: too late for these tests. */
export const SESSION = { sessionTimeout: 60_000 };
/** Milliseconds. */
export const LONG_BEFORE_A_BEAT = 10_000;

/** A server at which each holder has a node, and watches it. */
export interface WatchedServer {
  hold(keys: readonly string[], permits?: number): Promise<Lease>;
  /** Resolves when so many nodes are watched. */
  watching(count: number): Promise<void>;
  /** Names of the nodes of a key. */
  nodes(key: string): Promise<readonly string[]>;
  /** Deletes the first node of a key, as another client would. */
  removeNode(key: string): Promise<void>;
}

export async function isTold(lease: Lease): Promise<void> {
  await inTime(LONG_BEFORE_A_BEAT, aborted(lease.lost!));
  expect(String(lease.lost!.reason)).toMatch(/was deleted at (etcd|ZooKeeper)/);
  expect(await lease.extend(1_000)).toBe(false);
  expect(await lease.release()).toBe(false);
}

/** Registers what holders at every such server hear. `key` is that of the test that runs. */
export function itIsToldOfItsNode(server: WatchedServer, key: () => string): void {
  it.each([
    ['of a lock', undefined],
    ['of a reader', Infinity],
    ['of a semaphore', 3],
  ])('is told at once when another client deletes its node, %s', async (_, permits) => {
    const lease = await server.hold([key()], permits);
    await server.watching(1);
    await server.removeNode(key());
    await isTold(lease);
    await server.watching(0);
  });

  it('is told when that happens before the node is watched', async () => {
    const lease = await server.hold([key()]);
    await server.removeNode(key());
    await isTold(lease);
  });

  it('is told of each of its keys, and gives the others back', async () => {
    const all = [key(), ...Array.from({ length: 20 }, (_, index) => `${key()}-${index}`)];
    const lease = await server.hold(all);
    await server.watching(all.length);
    await server.removeNode(all[1]!);
    await isTold(lease);
    for (const each of all) await until(async () => (await server.nodes(each)).length === 0);
    await server.watching(0);
  });
}
