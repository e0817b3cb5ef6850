import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { BENCH } from '../lib/options.mjs';
import { PROJECT } from '../lib/project.mjs';

export function describeMachine() {
  const cpus = os.cpus();
  const server = process.env.REDIS_SERVER ?? 'redis-server';
  const { stdout = '' } = spawnSync(server, ['--version'], { encoding: 'utf8' });
  const git = spawnSync('git', ['rev-parse', '--short', 'HEAD'], {
    cwd: PROJECT,
    encoding: 'utf8',
  });
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: git.stdout?.trim() || undefined,
    cpu: cpus[0]?.model ?? 'unknown',
    cores: cpus.length,
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GB`,
    system: os.type(),
    node: process.version,
    redis: /v=([\d.]+)/.exec(stdout)?.[1] ?? 'unknown',
  };
}

/** What stood behind each name that is in the tables. */
export function describeCandidates(candidates, results) {
  const tables = Object.values(results).filter(({ rows, id }) => rows && id !== 'coldstart');
  const measured = new Set(tables.flatMap(({ rows }) => rows.map(({ name }) => name)));
  return candidates
    .filter(({ name }) => measured.has(name))
    .map(({ name, library, config, package: folder, raw }) => ({
      name,
      library: `${library} ${versionOf(folder)}`,
      configuration: config,
      'compared with': raw,
    }));
}

function versionOf(folder) {
  const path = folder === 'nest-holdfast' ? PROJECT : join(BENCH, 'node_modules', folder);
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).version;
}
