import type { ClockWatch } from '../../../../../lib/core/store/clock-watch.js';
import type { StoreDoubt } from '../../../../../lib/core/contract/lock-store.js';
import type { RedisClient } from '../../../../../lib/redis-client/redis-client.js';
import { watchClocks } from '../../../../../lib/stores/redis/failover/watch-clocks.js';

const LOOK = 1_000;
const slotsOf = (keys: readonly string[]) => keys.map(Number);

/** A connection to a server whose clock can be set. */
class FakeServer {
  status = 'ready';
  ahead = 0;
  error: Error | undefined;
  asked = 0;
  readonly options: object;

  constructor(port: number) {
    this.options = { host: 'redis', port };
  }

  async time(): Promise<number[]> {
    this.asked++;
    if (this.error) throw this.error;
    const now = Date.now() + this.ahead;
    return [Math.floor(now / 1_000), (now % 1_000) * 1_000];
  }
}

describe('The watch over the clocks of Redis', () => {
  let told: StoreDoubt[];
  let watch: ClockWatch;

  beforeEach(() => {
    jest.useFakeTimers();
    told = [];
  });

  afterEach(() => {
    watch.close();
    jest.useRealTimers();
  });

  /** A lock is held from now on. */
  function watchOver(client: object): void {
    watch = watchClocks(client as RedisClient, slotsOf, (doubt) => told.push(doubt));
    watch.holds(60_000);
  }

  const reasons = () => told.map(({ reason }) => reason);

  it('doubts all locks of a server whose clock was set', async () => {
    const server = new FakeServer(1);
    watchOver(server);
    await jest.advanceTimersByTimeAsync(2 * LOOK);
    expect(told).toEqual([]);
    server.ahead = 5_000;
    await jest.advanceTimersByTimeAsync(LOOK);
    expect(told).toEqual([
      { type: 'doubt', reason: 'the clock of the server was set forward by 5000 ms' },
    ]);
  });

  it('doubts the locks in the slots of a master whose clock was set', async () => {
    const masters = [new FakeServer(1), new FakeServer(2)];
    const slots = [['redis:1', 'redis:2'], ['redis:2'], undefined];
    const nodes = (role: string) => (role === 'master' ? [...masters, {}] : []);
    watchOver({ isCluster: true, slots, nodes, on: () => {}, off: () => {} });
    await jest.advanceTimersByTimeAsync(LOOK);
    masters[1]!.ahead = -3_000;
    await jest.advanceTimersByTimeAsync(LOOK);
    expect(reasons()).toEqual(['the clock of redis:2 was set back by 3000 ms']);
    const meant = ['0', '1', '2'].filter((key) => told[0]!.concerns!([key]));
    expect(meant).toEqual(['1']);
    expect(told[0]!.concerns!(['0', '1'])).toBe(true);
  });

  it('asks no server while its connection is not ready', async () => {
    const server = Object.assign(new FakeServer(1), { status: 'reconnecting' });
    watchOver(server);
    await jest.advanceTimersByTimeAsync(2 * LOOK);
    expect(server.asked).toBe(0);
    server.status = 'ready';
    await jest.advanceTimersByTimeAsync(LOOK);
    expect(server.asked).toBe(1);
  });

  it.each([
    ['forbids it', 'NOPERM this user has no permissions', 1],
    ['fails', 'Connection is closed.', 2],
  ])('asks a server that %s as often as it makes sense', async (_, text, times) => {
    const server = Object.assign(new FakeServer(1), { error: new Error(text) });
    watchOver(server);
    await jest.advanceTimersByTimeAsync(2 * LOOK);
    expect(server.asked).toBe(times);
  });

  it('asks nothing of a client that has no such command', async () => {
    watchOver({});
    await jest.advanceTimersByTimeAsync(2 * LOOK);
    expect(told).toEqual([]);
  });
});
