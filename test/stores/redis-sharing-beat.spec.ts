import { WAIT } from '../../lib/stores/redis/queue-scripts.js';
import { RedisServer } from '../support/redis-server.js';
import { OwnClient } from './redis-locks.js';

const KEYS = ['lock:doc:1', '{lock:doc:1}:queue', '{lock:doc:1}:shared'];
const LOCK = KEYS[0]!;
const HEARTBEAT = 60_000;

/** As many as share a call. */
const CALL = 100;

describe('One call of many who stand in line for a lock on Redis', () => {
  let server: RedisServer;
  let client: OwnClient;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = new OwnClient(server.url);
  });

  beforeEach(async () => {
    await server.command('FLUSHALL');
    await server.command('SET', LOCK, 'writer', 'PX', HEARTBEAT);
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await server.stop();
  });

  const sharers = (count: number, permits: string) =>
    Array.from({ length: count }, (_, index) => `store*${permits}.${index}:host:1:2`);

  function beat(values: readonly string[]): Promise<unknown[]> {
    const keys = values.flatMap(() => KEYS);
    const args = values.flatMap((value) => [value, 1_000]);
    return WAIT.run(client.redis, keys, [HEARTBEAT, ...args], (reply) => reply as unknown[]);
  }

  /** Microseconds of the server, when it had nothing else to do. */
  async function costOf(values: readonly string[]): Promise<number> {
    const costs: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await server.command('CONFIG', 'RESETSTAT');
      await beat(values);
      const stats = String(await server.command('INFO', 'commandstats'));
      costs.push(Number(/cmdstat_evalsha:calls=1,usec=(\d+)/.exec(stats)![1]));
    }
    return Math.min(...costs);
  }

  it('costs as much as a few calls of one, however long the line is', async () => {
    const readers = sharers(10 * CALL, 'inf');
    for (let from = 0; from < readers.length; from += CALL)
      await beat(readers.slice(from, from + CALL));
    const last = readers.slice(-CALL);
    expect(await costOf(last)).toBeLessThan((CALL / 4) * (await costOf(last.slice(0, 1))));
  });

  it('tells each its place, also after some of them were let in', async () => {
    const [first, second, ...rest] = sharers(5, '2');
    await beat([first!, second!, ...rest.slice(0, 2)]);
    await server.command('DEL', LOCK);
    const answers = await beat([first!, second!, ...rest]);
    const behind = (inFront: number) => [0, expect.any(Number), inFront];
    expect(answers).toEqual([[1], [1], behind(0), behind(1), behind(2)]);
    const entries = (await server.command('LRANGE', KEYS[1]!, 0, -1)) as string[];
    expect(entries.map((entry) => entry.split(' ')[2])).toEqual(rest);
  });
});
