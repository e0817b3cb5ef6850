import { ALL_CLIENTS, AppInstance, standing } from '../../../support/app-instance.js';
import { aRequest } from '../../locks.js';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { until } from '../../../../support/until.js';
import { nothingLeft } from '../../../../support/faults/left-behind.js';

const WAITERS = 100;

describe.each(ALL_CLIENTS)('100 waiters, with %s,', (_, Client) => {
  let server: RedisServer;
  let processes: AppInstance[];
  let inside = 0;

  beforeEach(async () => {
    server = await RedisServer.start();
    await server.command('SET', 'lock:order:42', 'foreign', 'PX', 60_000);
    inside = 0;
  });

  afterEach(async () => {
    await Promise.all(processes.map((each) => each[Symbol.asyncDispose]()));
    await server.stop();
  });

  function start(count: number): void {
    processes = Array.from({ length: count }, () => new AppInstance(server.url, { Client }));
  }

  async function oneAtATime(): Promise<void> {
    expect((inside += 1)).toBe(1);
    await server.command('PING');
    inside -= 1;
  }

  const callers = (work: () => unknown = oneAtATime) =>
    Array.from({ length: WAITERS }, (_each, index) =>
      processes[index % processes.length]!.locks.withLock('order:42', work),
    );

  it('in 20 processes, have their turns after Redis crashed and came back empty', async () => {
    start(20);
    const waiting = callers();
    await standing(server, 'order:42', 20);
    await server.restart();
    await Promise.all(waiting);
    await nothingLeft(server);
  });

  it('in 20 processes, have their turns after Redis crashed twice and its data were flushed', async () => {
    start(20);
    const waiting = callers(() => until(() => server.command('PING')));
    await standing(server, 'order:42', 20);
    await server.restart();
    await server.restart();
    await server.command('FLUSHALL');
    const ends = await Promise.allSettled(waiting);
    const codes = ends.flatMap((end) =>
      end.status === 'rejected' ? [(end.reason as { code?: string }).code] : [],
    );
    expect(codes.filter((code) => code !== 'LOCK_LOST')).toEqual([]); // of the callers that had it just then
    await nothingLeft(server);
  });

  it('of one store, have their turns after Redis crashed and came back empty', async () => {
    start(1);
    const waiting = Array.from({ length: WAITERS }, async () => {
      const { signal } = new AbortController();
      const lease = await processes[0]!.store.acquire!(aRequest('order:42'), signal);
      expect((inside += 1)).toBe(1);
      inside -= 1;
      return lease.release();
    });
    await standing(server, 'order:42', WAITERS);
    await server.restart();
    expect(await Promise.all(waiting)).not.toContain(false);
    await nothingLeft(server);
  });

  it('in 100 processes, have their turns after Redis crashed and came back empty', async () => {
    start(WAITERS);
    const waiting = callers();
    await standing(server, 'order:42', WAITERS);
    await server.restart();
    await Promise.all(waiting);
    await nothingLeft(server);
  });
});
