import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChildProcess } from '../../../support/processes/child-process.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { WORK_MS } from '../../../support/histories/duration.js';
import type { CounterReport } from '../../../support/histories/workers/counter.worker.js';

const PROCESSES = 4;
const WORKERS = 16;

type Counter = ChildProcess<'stop', 'ready' | CounterReport>;

describe(`${PROCESSES} processes with ${WORKERS} workers each on one key`, () => {
  let server: RedisServer;
  let directory: string;
  let counters: Counter[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
    directory = await mkdtemp(join(tmpdir(), 'holdfast-processes-'));
    await writeFile(`${directory}/counter`, '0');
    await writeFile(`${directory}/grants`, '');
    const args = [server.url, directory, String(WORKERS)];
    const file = 'test/support/histories/workers/counter.worker.ts';
    counters = Array.from({ length: PROCESSES }, () => new ChildProcess(file, { args }));
    await Promise.all(counters.map((counter) => counter.next()));
  });

  afterAll(async () => {
    await Promise.all(counters.map((counter) => counter.kill()));
    await rm(directory, { recursive: true, force: true });
    await server.stop();
  });

  it(
    'lose no update and get growing fencing tokens in the order of their grants',
    async () => {
      await sleep(WORK_MS);
      for (const counter of counters) counter.send('stop');
      const reports = await Promise.all(
        counters.map((counter) => counter.next({ within: 30_000 }) as Promise<CounterReport>),
      );

      expect(reports.flatMap(({ errors }) => errors)).toEqual([]);
      for (const { counted } of reports) expect(counted).toBeGreaterThan(0);
      const counted = reports.reduce((sum, report) => sum + report.counted, 0);
      expect(Number(await readFile(`${directory}/counter`, 'utf8'))).toBe(counted);

      const grants = (await readFile(`${directory}/grants`, 'utf8')).trim().split('\n').map(BigInt);
      expect(grants).toHaveLength(counted);
      const inOrder = grants.every((token, index) => index === 0 || token > grants[index - 1]!);
      expect(inOrder).toBe(true);
    },
    WORK_MS + 45_000,
  );
});
