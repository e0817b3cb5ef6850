import { Redis } from 'ioredis';
import { RedisLockStore } from 'nest-holdfast';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { until } from '../../../../support/until.js';
import { lengthsOfRows } from '../../../sql/common/lengths-of-rows.js';
import { CLIENTS, AppInstance } from '../../../support/app-instance.js';
import { disconnect } from '../../locks.js';

const CALLERS = 20;

describe('localPassLimit', () => {
  let server: RedisServer;

  beforeEach(async () => {
    server = await RedisServer.shared();
  });

  afterEach(() => server.stop());

  /**
   * Two processes with 20 callers each, that all want one key. Each holder keeps it until the other process is in line,
   * as long as that one has callers left. Resolves with how many of one process came in a row, each time.
   */
  async function rows(options: ConstructorParameters<typeof AppInstance>[1] = {}) {
    const inRows = { yieldEvery: Infinity, ...options };
    await using a = new AppInstance(server.url, inRows);
    await using b = new AppInstance(server.url, inRows);
    const left = new Map([a, b].map((each) => [each, CALLERS]));
    const turns: AppInstance[] = [];
    const queue = async () => (await server.command('KEYS', '*:line*')) as string[];
    const work = (self: AppInstance, other: AppInstance) => async () => {
      turns.push(self);
      left.set(self, left.get(self)! - 1);
      if (left.get(other)! > 0) await until(async () => (await queue()).length === 1);
      await self.redis.ping(); // the server's messages about it have arrived
    };
    const call = (self: AppInstance, other: AppInstance) =>
      Array.from({ length: CALLERS }, () => self.locks.withLock('order:42', work(self, other)));
    await Promise.all([...call(a, b), ...call(b, a)]);
    return lengthsOfRows(turns);
  }

  it.each(CLIENTS)('is 8 by default, with %s', async (_, Client) => {
    expect(await rows({ Client })).toEqual([9, 9, 9, 9, 2, 2]); // one that was handed the key, and 8 passes
  });

  it.each(CLIENTS)('may be another number, with %s', async (_, Client) => {
    expect(await rows({ Client, localPassLimit: 4 })).toEqual([5, 5, 5, 5, 5, 5, 5, 5]);
  });

  it.each(CLIENTS)('of Infinity never yields to others, with %s', async (_, Client) => {
    expect(await rows({ Client, localPassLimit: Infinity })).toEqual([20, 20]);
  });

  it.each(CLIENTS)('works where the client has a keyPrefix, with %s', async (_, Client) => {
    const client = { keyPrefix: 'app:' };
    expect(await rows({ Client, client })).toEqual([9, 9, 9, 9, 2, 2]);
    expect(await rows({ Client, client: { keyPrefix: '{app}:' } })).toEqual([9, 9, 9, 9, 2, 2]);
  });

  it('does not matter while no other process waits', async () => {
    await using own = new AppInstance(server.url);
    const before = await calls();
    const callers = Array.from({ length: 60 }, () =>
      own.locks.withLock('order:42', async () => {}),
    );
    await Promise.all(callers);
    expect((await calls()) - before).toBeLessThanOrEqual(6); // each of the three scripts, by its hash and in full
  });

  async function calls(): Promise<number> {
    const stats = String(await server.command('INFO', 'commandstats'));
    const counts = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  it.each([-1, 0.5, NaN, '8', null])('refuses %p', (localPassLimit) => {
    const client = new Redis({ lazyConnect: true });
    const create = () => new RedisLockStore(client, { localPassLimit: localPassLimit as number });
    expect(create).toThrow(typeof localPassLimit === 'number' ? RangeError : TypeError);
    expect(create).toThrow(/localPassLimit/);
    disconnect(client);
  });
});
