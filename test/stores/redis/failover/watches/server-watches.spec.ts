import { EventEmitter } from 'node:events';
import type { StoreNotice } from '../../../../../lib/core/contract/lock-store.js';
import type { RedisClient } from '../../../../../lib/redis-client/redis-client.js';
import { ServerWatches } from '../../../../../lib/stores/redis/failover/server-watches.js';

/** A client of one server. */
class FakeClient extends EventEmitter {
  status = 'ready';
  runId = 'a';
  readonly info = async () => `run_id:${this.runId}\r\nuptime_in_seconds:17`;
  readonly time = async () => [1_700_000_000, 0];
}

/** A client of a Cluster without nodes. */
class FakeCluster extends EventEmitter {
  readonly isCluster = true;
  slots: string[][] = [['redis:1']];
  readonly nodes = (): EventEmitter[] => [];
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('What a store watches of Redis', () => {
  let told: StoreNotice[];
  let watches: ServerWatches;

  beforeEach(() => {
    told = [];
  });

  afterEach(() => watches.close());

  function watch<Client extends object>(client: Client): Client {
    watches = new ServerWatches(client as RedisClient, (keys) => keys.map(Number));
    return client;
  }

  const reasons = () => told.map((notice) => ('reason' in notice ? notice.reason : notice.type));

  it('is one server: its connection, its run, and that it is another one', async () => {
    const client = watch(new FakeClient());
    const link = watches.server!;
    expect(watches.server).toBe(link);
    expect(watches.connected).toBe(link);
    expect(await watches.readRunId()).toBe('a');
    watches.observe((notice) => told.push(notice));
    await settled();
    client.runId = 'b';
    client.emit('close');
    client.emit('ready');
    await settled();
    expect(reasons()).toEqual([expect.stringContaining('is another one than before')]);
  });

  it('is no run of a server that was not looked at', async () => {
    watch(new FakeClient());
    expect(await watches.readRunId()).toBeUndefined();
    expect(watches.clocks).toBeUndefined();
  });

  it('is a Cluster: its slots, and the sum of all lost connections', () => {
    const client = watch(new FakeCluster());
    expect(watches.server).toBeUndefined();
    expect(watches.connected).toEqual({ losses: 0 });
    watches.observe((notice) => told.push(notice));
    client.emit('-node', new EventEmitter());
    watches.observe(() => {});
    client.emit('-node', new EventEmitter());
    expect(watches.connected).toEqual({ losses: 3 });
    client.slots = [['redis:2']];
    client.emit('refresh');
    expect(reasons()).toEqual(['the master of 1 slots is another one than before']);
  });

  it('is the connection alone, of a client without events', () => {
    const stream = {};
    watch({ stream });
    expect(watches.connected).toEqual({ losses: stream });
    expect(watches.connected.losses).toBe(stream);
    watches.observe((notice) => told.push(notice));
    expect(watches.connected.losses).toBe(stream);
  });

  it.each([
    ['one server', () => new FakeClient()],
    ['a Cluster', () => new FakeCluster()],
  ])('of %s leaves no listener and no clock', (_, make) => {
    const client = watch(make());
    watches.observe(() => {});
    const first = watches.clocks!;
    const closed = jest.spyOn(first, 'close');
    watches.observe(() => {});
    expect(closed).toHaveBeenCalledTimes(1);
    const second = jest.spyOn(watches.clocks!, 'close');
    expect(client.eventNames()).not.toEqual([]);
    watches.close();
    expect(second).toHaveBeenCalledTimes(1);
    expect(watches.clocks).toBeUndefined();
    expect(client.eventNames()).toEqual([]);
  });
});
