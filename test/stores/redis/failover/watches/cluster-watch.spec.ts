import { EventEmitter } from 'node:events';
import type { StoreDoubt } from '../../../../../lib/core/contract/lock-store.js';
import type { ClusterClient } from '../../../../../lib/redis-client/cluster-client.js';
import { ClusterWatch } from '../../../../../lib/stores/redis/failover/cluster-watch.js';

/** A connection to a master. */
class FakeNode extends EventEmitter {
  status = 'ready';
  readonly options: object;

  constructor(port: number) {
    super();
    this.options = { host: 'redis', port };
  }
}

/** A client of a Cluster of three slots. */
class FakeCluster extends EventEmitter {
  readonly one = new FakeNode(1);
  readonly two = new FakeNode(2);
  slots: (string[] | undefined)[] = [['redis:1', 'redis:9'], ['redis:2'], undefined];

  nodes(role: string): FakeNode[] {
    return role === 'all' ? [this.one, this.two] : [];
  }
}

const EVENTS = ['refresh', '+node', '-node'];

describe('The watch over the masters of a Cluster', () => {
  let client: FakeCluster;
  let watch: ClusterWatch;
  let told: StoreDoubt[];

  beforeEach(() => {
    client = new FakeCluster();
    told = [];
    const slotsOf = (keys: readonly string[]) => keys.map(Number);
    watch = new ClusterWatch(client as unknown as ClusterClient, slotsOf, (doubt) => told.push(doubt)); // prettier-ignore
  });

  const reasons = () => told.map(({ reason }) => reason);
  /** Which of the three slots the last doubt is about. */
  const meant = () => ['0', '1', '2'].filter((key) => told.at(-1)!.concerns!([key]));

  it('doubts the locks in slots whose master is another one, once', () => {
    client.emit('refresh');
    client.slots[0] = ['redis:9', 'redis:1'];
    client.slots[2] = ['redis:2']; // had none
    client.emit('refresh');
    client.emit('refresh');
    expect(told).toEqual([
      { type: 'doubt', reason: 'the master of 1 slots is another one than before', concerns: expect.any(Function) }, // prettier-ignore
    ]);
    expect(meant()).toEqual(['0']);
    expect(told[0]!.concerns!(['1', '0'])).toBe(true);
  });

  it('doubts the locks in slots that have lost their master', () => {
    client.slots[1] = undefined;
    client.emit('refresh');
    expect(meant()).toEqual(['1']);
  });

  it('doubts the locks of a master whose connection is lost, and counts it', () => {
    client.one.emit('close');
    expect(reasons()).toEqual(['the connection to redis:1 was lost']);
    expect(meant()).toEqual(['0']);
    expect(watch.losses).toBe(1);
  });

  it('doubts nothing where a connection is lost that was never made', () => {
    client.one.emit('close');
    client.one.emit('close');
    expect(told).toHaveLength(1);
    client.one.emit('ready');
    client.one.emit('close');
    expect(told).toHaveLength(2);
    const late = Object.assign(new FakeNode(2), { status: 'connecting' });
    client.emit('+node', late);
    late.emit('close');
    expect(told).toHaveLength(2);
    late.emit('ready');
    late.emit('close');
    expect(reasons().at(-1)).toBe('the connection to redis:2 was lost');
    expect(watch.losses).toBe(5);
  });

  it('doubts nothing where a server is lost that is the master of no slot', () => {
    const replica = new FakeNode(9);
    client.emit('+node', replica);
    replica.emit('close');
    expect(told).toEqual([]);
  });

  it('watches each connection once, until the client gives it up', () => {
    client.emit('+node', client.one);
    expect(client.one.listenerCount('close')).toBe(1);
    client.emit('-node', client.one);
    expect(client.one.eventNames()).toEqual([]);
    expect(watch.losses).toBe(1);
    client.emit('-node', client.one);
    client.emit('+node', client.one);
    client.one.emit('close');
    expect(told).toHaveLength(1);
  });

  it('makes room for its listeners, and leaves none', () => {
    const before = new EventEmitter().getMaxListeners();
    const emitters = [client, client.one, client.two];
    const room = () => emitters.map((each) => each.getMaxListeners() - before);
    expect(room()).toEqual([1, 1, 1]);
    expect(EVENTS.map((event) => client.listenerCount(event))).toEqual([1, 1, 1]);
    watch.close();
    expect(room()).toEqual([0, 0, 0]);
    expect(emitters.flatMap((each) => each.eventNames())).toEqual([]);
  });
});
