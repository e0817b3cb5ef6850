import type { Call } from '../../../../lib/stores/zookeeper/client/pending-calls.js';
import { Watches } from '../../../../lib/stores/zookeeper/client/watches.js';
import type { ZooKeeperClient } from '../../../../lib/stores/zookeeper/client/zookeeper-client.js';
import { noEnd } from '../stores.js';

type GetData = ZooKeeperClient['getData'];

describe('Watches of ZooKeeper', () => {
  const set: Parameters<GetData>[1][] = [];
  let version: number;
  let watches: Watches;

  beforeEach(() => {
    set.length = 0;
    version = 0;
    const getData = (_: string, watcher: (typeof set)[number], done: Parameters<GetData>[2]) => {
      set.push(watcher);
      done(null, Buffer.alloc(0), { version } as never);
    };
    const find = <T>({ send }: Call<T>) =>
      new Promise<T | undefined>((resolve, reject) =>
        send((error, value) => (error ? reject(error) : resolve(value))),
      );
    watches = new Watches({ getData } as unknown as ZooKeeperClient, find);
  });

  it('resolve at once for a node that was written to since, and only once for each time', async () => {
    version = 2;
    expect(await watches.untilNode('/a', 0, noEnd())).toBe(2);
    const settled = jest.fn();
    const waiting = watches.untilNode('/a', 2, noEnd()).then(settled);
    await new Promise(setImmediate);
    expect(settled).not.toHaveBeenCalled();
    set[0]!();
    await waiting;
  });

  it('are not forgotten when one of before, of the same node, fires late', async () => {
    const first = watches.untilNode('/a', 0, noEnd());
    await new Promise(setImmediate);
    set[0]!();
    await first;
    const second = watches.untilNode('/a', 0, noEnd());
    await new Promise(setImmediate);
    set[0]!();
    watches.fail(new Error('the connection is lost'));
    await expect(second).rejects.toThrow('the connection is lost');
  });
});
