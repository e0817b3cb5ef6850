import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DistributedLockModule, LockService } from 'nest-holdfast';
import { RedisServer } from '../support/servers/redis-server.js';
import { until } from '../support/until.js';

/** Milliseconds for which Redis is away. */
const OUTAGE = 20_000;
const PASSWORD = 'hunter2';

/** The lines that Nest's logger prints, with their times. */
function printed() {
  const lines: { readonly at: number; readonly line: string }[] = [];
  for (const level of ['log', 'warn', 'error'] as const) {
    jest.spyOn(Logger.prototype, level).mockImplementation((...[line]: unknown[]) => {
      lines.push({ at: performance.now(), line: `${level} ${String(line)}` });
    });
  }
  return lines;
}

async function started(port: number, options: object = {}) {
  const redis = `redis://default:${PASSWORD}@127.0.0.1:${port}`;
  const imports = [DistributedLockModule.forRoot({ redis, storeTimeout: 1_000, ...options })];
  return Test.createTestingModule({ imports }).compile();
}

/** Takes locks all the time, of ten keys, until it is told to stop. */
function load(locks: LockService): { stop(): Promise<void>; granted: number } {
  const over = new AbortController();
  const run = async (key: string) => {
    while (!over.signal.aborted) {
      await locks.withLock(key, { ttl: 3_000 }, () => void (own.granted += 1)).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const runs = Array.from({ length: 10 }, (_, n) => run(`order:${n}`));
  const own = { granted: 0, stop: async () => (over.abort(), void (await Promise.all(runs))) };
  return own;
}

afterEach(() => jest.restoreAllMocks());

it('A Redis that is killed for 20 s under load is in the log within a second, in fewer than 20 lines, and once when it is back', async () => {
  await using server = await RedisServer.start({ args: ['--requirepass', PASSWORD] });
  const lines = printed();
  const app = await started(server.port);
  const locks = app.get(LockService);
  const held = await locks.acquire('held', { ttl: 3_000 });
  const work = load(locks);
  await until(() => work.granted > 100);
  expect(lines.filter(({ line }) => !line.startsWith('log'))).toEqual([]);
  lines.length = 0;
  const killedAt = performance.now();
  await server.kill();
  await new Promise((resolve) => setTimeout(resolve, OUTAGE));
  await server.restart();
  const before = work.granted;
  await until(() => work.granted > before + 100);
  const isBack = ({ line }: { line: string }) => line.includes('answers again');
  await until(() => lines.some(isBack));
  await work.stop();
  expect(held.isHeld).toBe(false);
  await app.close();
  const all = lines.map(({ line }) => line);
  expect(lines[0]!.at - killedAt).toBeLessThan(1_000);
  expect(all.length).toBeLessThan(20);
  expect(all.filter((line) => line.includes('answers again'))).toHaveLength(1);
  expect(all.join()).toContain('Lock store "redis" failed');
  expect(all.join()).toContain('"held" is no longer held');
  expect(all.join()).not.toContain(PASSWORD);
});

it('logs: false logs nothing of the locks', async () => {
  const server = await RedisServer.start();
  const lines = printed();
  const app = await started(server.port, { logs: false });
  const held = await app.get(LockService).acquire('held', { ttl: 300 });
  await server.kill();
  await until(() => !held.isHeld);
  await app.close();
  expect(lines.filter(({ line }) => line.includes('"held"'))).toEqual([]);
  await server.remove();
});
