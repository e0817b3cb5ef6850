import { EventEmitter } from 'node:events';
import {
  RedisServerLink,
  type WatchableClient,
  addressOf,
  canWatch,
} from '../../../../../lib/stores/redis/failover/server-link.js';
import type { RedisClient } from '../../../../../lib/redis-client/redis-client.js';

const CLIENT = { info: () => {}, time: () => {}, on: () => {}, off: () => {} };

/** A client without a server. */
class FakeClient extends EventEmitter {
  status = 'ready';
  readonly info = async (section: string): Promise<string> =>
    section === 'server' ? 'run_id:abc\r\nuptime_in_seconds:17\r\n' : '';
  readonly time = async () => ['1700000000', '250000'];
}

describe('The link to a Redis server', () => {
  let client: FakeClient;
  let link: RedisServerLink;

  beforeEach(() => {
    client = new FakeClient();
    link = new RedisServerLink(client as unknown as WatchableClient);
  });

  it('counts lost connections, and tells of each', () => {
    const lost = jest.fn();
    link.onLost(lost);
    expect(link.losses).toBe(0);
    client.emit('close');
    client.emit('close');
    expect(link.losses).toBe(2);
    expect(lost).toHaveBeenCalledTimes(2);
  });

  it('counts again for who listens after it was closed', () => {
    link.close();
    client.emit('close');
    expect(link.losses).toBe(0);
    link.onReady(() => undefined);
    link.onLost(() => undefined);
    client.emit('close');
    expect(link.losses).toBe(1);
    link.close();
    expect(client.eventNames()).toEqual([]);
  });

  it('has the address of the server', () => {
    expect(link.address).toBe('localhost:6379');
  });

  it.each([
    ['ready', true],
    ['wait', true],
    ['connecting', false],
    ['reconnecting', false],
    ['end', false],
  ])('of a client that is %s is ready: %s', (status, isReady) => {
    client.status = status;
    expect(link.isReady).toBe(isReady);
  });

  it('tells when it is ready: at once where it is, and after each connection', () => {
    const now = jest.fn();
    link.onReady(now);
    expect(now).toHaveBeenCalledTimes(1);
    client.status = 'connecting';
    const later = jest.fn();
    link.onReady(later);
    expect(later).not.toHaveBeenCalled();
    client.emit('ready');
    expect([now, later].map(({ mock }) => mock.calls.length)).toEqual([2, 1]);
  });

  it('reads the run of the server, the least time that it is up, and its clock', async () => {
    expect(await link.vitals()).toEqual({ runId: 'abc', upFor: 16_000, time: 1_700_000_000_250 });
    expect(link.runId).toBe('abc');
    jest.spyOn(client, 'info').mockResolvedValue('run_id:abc\r\nuptime_in_seconds:0');
    expect(await link.vitals()).toMatchObject({ upFor: 0 });
  });

  it('leaves no listener, and as much room for those of others as before', () => {
    const before = client.getMaxListeners();
    link.onReady(() => {});
    link.onLost(() => {});
    expect(client.getMaxListeners()).toBe(before + 2); // it listens for losses itself, too
    link.close();
    link.close();
    expect(client.eventNames()).toEqual([]);
    expect(client.getMaxListeners()).toBe(before - 1);
    client.emit('close');
    expect(link.losses).toBe(0);
  });
});

it.each([
  [undefined, 'localhost:6379'],
  [{ host: 'redis', port: 7_000 }, 'redis:7000'],
  [{ path: '/run/redis.sock', host: 'redis' }, '/run/redis.sock'],
  [{ sentinels: [{}], name: 'main', host: 'redis' }, 'the master of main'],
])('The server of a client with %j is called %s', (options, address) => {
  expect(addressOf({ options } as unknown as RedisClient)).toBe(address);
});

it.each([
  ['a client of one server', {}, true],
  ['one of a Cluster', { isCluster: true }, false],
  ['one without INFO', { info: undefined }, false],
  ['one without TIME', { time: undefined }, false],
  ['one without events', { on: undefined }, false],
  ['one whose events cannot be left', { off: undefined }, false],
])('%s can be watched: %3$s', (_, changes, expected) => {
  expect(canWatch({ ...CLIENT, ...changes } as unknown as RedisClient)).toBe(expected);
});
