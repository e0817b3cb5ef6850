import { EventEmitter } from 'node:events';
import type { RedisClient } from '../../../../lib/redis-client/redis-client.js';
import { MasterConnections } from '../../../../lib/stores/redis/checks/master-connections.js';
import { readFacts, readRunId } from '../../../../lib/stores/redis/checks/server-facts.js';
import type { WatchableClient } from '../../../../lib/stores/redis/failover/server-link.js';

const nothing = async () => undefined;

/** A connection to a server. */
class FakeNode extends EventEmitter {
  readonly options: object;
  readonly info = nothing;
  readonly time = nothing;

  constructor(
    port: number,
    public status = 'ready',
  ) {
    super();
    this.options = { host: 'redis', port };
  }
}

class FakeCluster extends EventEmitter {
  readonly isCluster = true;
  readonly slots = [];
  masters: object[] = [];
  readonly nodes = (role: string) => (role === 'master' ? this.masters : []);
}

describe('The connections to masters that are checked', () => {
  let ready: string[];
  let connections: MasterConnections;

  beforeEach(() => {
    ready = [];
  });

  afterEach(() => connections.close());

  function watch<Client extends object>(client: Client): Client {
    connections = new MasterConnections(client as RedisClient, (_, address) => ready.push(address));
    return client;
  }

  it('are the one of a client, now and whenever it is made again', () => {
    const client = watch(new FakeNode(1));
    expect(ready).toEqual(['redis:1']);
    client.emit('ready');
    expect(ready).toEqual(['redis:1', 'redis:1']);
    connections.close();
    client.emit('ready');
    expect(ready).toHaveLength(2);
    expect(client.getMaxListeners()).toBe(EventEmitter.defaultMaxListeners);
  });

  it('are none before the client is connected, or of one without events', () => {
    const client = watch(new FakeNode(1, 'connecting'));
    expect(ready).toEqual([]);
    expect(client.getMaxListeners()).toBe(EventEmitter.defaultMaxListeners + 1);
    client.emit('ready');
    expect(ready).toEqual(['redis:1']);
    watch({});
    expect(ready).toHaveLength(1);
  });

  it('are those of a Cluster: of its masters, also of those that come later, once', () => {
    const client = new FakeCluster();
    const [one, two] = [new FakeNode(1), new FakeNode(2)];
    client.masters = [one, {}];
    watch(client);
    expect(ready).toEqual(['redis:1']);
    client.masters.push(two);
    client.emit('+node', {});
    client.emit('refresh');
    expect(ready).toEqual(['redis:1', 'redis:2']);
    one.emit('ready');
    expect(ready).toEqual(['redis:1', 'redis:2', 'redis:1']);
  });

  it('are watched until the client gives them up, and looked at anew where they come back', () => {
    const client = new FakeCluster();
    const node = new FakeNode(1);
    client.masters = [node];
    watch(client);
    client.emit('-node', node);
    client.emit('-node', {});
    node.emit('ready');
    expect(ready).toHaveLength(1);
    client.emit('refresh');
    expect(ready).toHaveLength(2);
  });

  it('are left without a listener', () => {
    const client = new FakeCluster();
    const node = new FakeNode(1);
    client.masters = [node];
    watch(client);
    expect(client.getMaxListeners()).toBe(EventEmitter.defaultMaxListeners + 1);
    connections.close();
    for (const each of [client, node]) {
      expect(each.eventNames()).toEqual([]);
      expect(each.getMaxListeners()).toBe(EventEmitter.defaultMaxListeners);
    }
  });
});

describe('What a server tells of its settings', () => {
  const NOW = 1_700_000_000_000;
  const INFO: Record<string, string> = {
    server: '# Server\r\nrun_id:abc\r\n',
    memory: 'maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n',
    persistence: 'aof_enabled:1\r\n',
  };

  afterEach(() => jest.restoreAllMocks());

  /** The server read its clock between the two moments at which this process reads its own. */
  function serverAt(time: number, passed = 0, info = INFO): WatchableClient {
    jest
      .spyOn(Date, 'now')
      .mockReturnValueOnce(NOW)
      .mockReturnValue(NOW + passed);
    const told = async (section: string) => {
      if (info[section] === undefined) throw new Error('NOPERM');
      return info[section];
    };
    const clock = async () => [Math.floor(time / 1_000), (time % 1_000) * 1_000];
    return { info: told, time: clock } as unknown as WatchableClient;
  }

  it('is what becomes of its data, and its run', async () => {
    expect(await readFacts(serverAt(NOW))).toEqual({ eviction: 'allkeys-lru', keepsFile: true, clockAhead: 0 }); // prettier-ignore
    expect(await readRunId(serverAt(NOW))).toBe('abc');
    const other = serverAt(NOW, 0, { persistence: 'aof_enabled:0' });
    expect(await readFacts(other)).toMatchObject({ eviction: undefined, keepsFile: false });
  });

  it.each([
    [5_000, 0, 5_000],
    [5_000, 300, 4_700],
    [200, 300, 0],
    [300, 300, 0],
    [-200, 300, -200],
  ])(
    'is a clock that reads %d ms more within %d ms: %d ms at least',
    async (ahead, passed, least) => {
      expect((await readFacts(serverAt(NOW + ahead, passed))).clockAhead).toBe(least);
    },
  );

  it('is nothing where it forbids that', async () => {
    const forbidden = { info: () => Promise.reject(new Error('NOPERM')), time: () => Promise.reject(new Error('NOPERM')) }; // prettier-ignore
    const client = forbidden as unknown as WatchableClient;
    expect(await readFacts(client)).toEqual({ eviction: undefined, keepsFile: undefined, clockAhead: undefined }); // prettier-ignore
    expect(await readRunId(client)).toBeUndefined();
  });
});
