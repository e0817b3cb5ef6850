import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SupervisorProcess } from '../../../lib/cli/run/supervisor-process.js';
import { isAlive } from '../support/is-alive.js';

it('a command whose supervisor was killed before it named the process group is dead: 70', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-strays-'));
  const pidFile = join(folder, 'pid');
  const supervisor = new SupervisorProcess(join(__dirname, 'dying-supervisor.mjs'));
  supervisor.start(['sh', '-c', 'while :; do sleep 0.05; done', pidFile], {}, 1_000);
  await expect(supervisor.started).rejects.toMatchObject({ exitCode: 70 });
  expect(isAlive(Number(await readFile(pidFile, 'utf8')))).toBe(false);
  supervisor.close();
  await rm(folder, { recursive: true });
});
