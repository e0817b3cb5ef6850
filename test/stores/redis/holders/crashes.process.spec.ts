import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildProcess } from '../../../support/processes/child-process.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { WORK_MS } from '../../../support/histories/duration.js';
import { Ledger } from '../../../support/histories/ledger.js';

const PROCESSES = 4;
const WORKERS = 16;

type Process = ChildProcess<'stop', 'ready' | 'stopped'>;

describe(`${PROCESSES} processes, one after another of which is killed and started again`, () => {
  let server: RedisServer;
  let directory: string;
  let ledger: Ledger;
  const processes: Process[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
    directory = await mkdtemp(join(tmpdir(), 'holdfast-crashes-'));
    await writeFile(join(directory, 'ledger'), '');
    ledger = new Ledger(join(directory, 'ledger'));
  });

  afterAll(async () => {
    await Promise.all(processes.map((each) => each.kill()));
    await rm(directory, { recursive: true, force: true });
    await server.stop();
  });

  async function start(): Promise<Process> {
    const args = [server.url, join(directory, 'ledger'), String(WORKERS)];
    const child: Process = new ChildProcess('test/support/histories/workers/ledger.worker.ts', {
      args,
    });
    await child.next();
    return child;
  }

  it(
    'lose no update to the fenced ledger, and never stand still',
    async () => {
      processes.push(...(await Promise.all(Array.from({ length: PROCESSES }, start))));
      const end = performance.now() + WORK_MS;
      let kills = 0;
      while (performance.now() < end) {
        await progress(20);
        await processes.shift()!.kill();
        kills += 1;
        await progress(1); // the others go on
        processes.push(await start());
      }
      for (const each of processes) each.send('stop');
      await Promise.all(
        processes.map((each) =>
          each.received((message) => message === 'stopped', { within: 60_000 }),
        ),
      );

      const values = await ledger.values();
      expect(values).toEqual(values.map((_, index) => index + 1));
      expect(kills).toBeGreaterThan(0);
    },
    WORK_MS + 150_000,
  );

  /** Resolves when the ledger has grown by `count` entries. */
  async function progress(count: number): Promise<void> {
    const { length } = await ledger.values();
    await until(async () => (await ledger.values()).length >= length + count, {
      within: 30_000,
      every: 50,
      what: `${count} more entries in the ledger`,
    });
  }
});
