import { leftBehind } from '../../../support/faults/left-behind.js';
import { ChildProcess } from '../../../support/processes/child-process.js';
import { inLanes } from '../../../support/lanes.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import type { CyclesReport } from '../../../support/leaks/workers/cycles.worker.js';
import type { TimersReport } from '../../../support/leaks/workers/timers.worker.js';

const CYCLES = 100_000;
const MEGABYTE = 1_048_576;

describe('A process that takes and frees locks', () => {
  let server: RedisServer;
  let cycles: Map<(typeof stores)[number], Promise<CyclesReport>>;

  const stores = [
    ['on Redis', () => [server.url]],
    ['in memory', () => []],
  ] as const;

  beforeAll(async () => {
    server = await RedisServer.start();
    cycles = inLanes(stores, 2, async ([, args]) => {
      await using child = start<CyclesReport>('cycles', [String(CYCLES), ...args()]);
      return await child.next({ within: 240_000 });
    });
  });

  afterAll(async () => {
    await Promise.allSettled(cycles.values());
    await server.stop();
  });

  it.each(stores.map((store) => [store[0], store] as const))(
    `%s is after ${CYCLES} cycles on as many keys what it was before`,
    async (_, store) => {
      const { before, after } = (await cycles.get(store))!;
      expect(Math.abs(after.heap - before.heap)).toBeLessThan(2 * MEGABYTE);
      expect(after.resources).toEqual(before.resources);
      expect(after.timers).toBeLessThanOrEqual(before.timers);
    },
    250_000,
  );

  it('leaves nothing on Redis but a thousand counters that expire', async () => {
    const keyspace = String(await server.command('INFO', 'keyspace'));
    const [, keys, expires] = /keys=(\d+),expires=(\d+)/.exec(keyspace)!;
    expect(Number(keys)).toBeLessThanOrEqual(1_024); // however many cycles
    expect(expires).toBe(keys);
    expect(await server.command('SCAN', 0, 'MATCH', 'lock:*', 'COUNT', 1_000_000)).toEqual([
      '0',
      [],
    ]);
  });

  describe('the timers of a process', () => {
    let reports: Map<(typeof stores)[number], Promise<TimersReport>>;

    beforeAll(async () => {
      await server.command('FLUSHALL');
      reports = inLanes(stores, 2, async ([, args]) => {
        await using child = start<TimersReport>('timers', args());
        return await child.next({ within: 100_000 });
      });
    });

    it.each(stores.map((store) => [store[0], store] as const))(
      '%s it has no timer left, however a lock or a wait has ended',
      async (_, store) => {
        const { idle, holding, ended } = (await reports.get(store))!;
        expect(idle.timers).toBe(0);
        expect(holding.timers).toBeGreaterThan(0);
        expect(holding.resources).toEqual(idle.resources); // a held lock does not keep the process alive
        for (const [how, { timers, resources }] of Object.entries(ended)) {
          expect({ how, timers, resources }).toEqual({ how, timers: 0, resources: idle.resources });
        }
        expect(await leftBehind(server)).toEqual([]);
      },
    );

    afterAll(() => Promise.allSettled(reports.values()));
  });
});

function start<Report>(worker: string, args: string[]): ChildProcess<never, Report> {
  const file = `test/support/leaks/workers/${worker}.worker.ts`;
  return new ChildProcess(file, { args, nodeArgs: ['--expose-gc'] });
}
