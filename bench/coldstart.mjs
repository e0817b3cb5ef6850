// What an import costs a service that has loaded Nest and its Redis client anyway, and the client itself, each in fresh processes.
import { spawnSync } from 'node:child_process';
import { BENCH, options } from './lib/options.mjs';
import { PROJECT } from './lib/project.mjs';
import { publish } from './lib/results.mjs';
import { inRounds } from './lib/rounds.mjs';
import { summarise } from './lib/summary.mjs';

const option = options({ rounds: 9, patience: 300 }, { rounds: 1, patience: 50 });
const NEST = ['reflect-metadata', '@nestjs/common', '@nestjs/core'];
const ours = (how) => ({
  name: `nest-holdfast (${how})`,
  package: 'nest-holdfast',
  library: 'nest-holdfast',
  folder: PROJECT,
  how,
  loaded: [...NEST, 'ioredis'],
});
const peer = (name, client = 'ioredis', how = 'import') => ({
  name,
  package: name,
  library: name,
  folder: BENCH,
  how,
  loaded: [...NEST, client],
});
const PACKAGES = [
  ours('import'),
  ours('require'),
  {
    ...ours('import'),
    name: 'ioredis 6 itself',
    package: 'ioredis',
    library: 'ioredis',
    loaded: NEST,
  },
  peer('redlock4'),
  peer('redlock5'),
  peer('redis-semaphore'),
  peer('redlock-universal'),
  peer('simple-redis-mutex', 'redis'),
  peer('@anchan828/nest-redlock', 'ioredis', 'require'), // Node cannot load its ES build
  peer('@huangang/nestjs-simple-redis-lock'),
];

const samples = await inRounds(PACKAGES, option, importOnce);
publish(option.out, {
  id: 'coldstart',
  title: `Import on top of Nest and the Redis client (${option.rounds} fresh processes each)`,
  columns: ['name', 'import ms', 'import MB', 'noise'],
  rows: summarise(samples, PACKAGES),
  samples,
});

async function importOnce(each) {
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', probeOf(each)],
    { cwd: each.folder, encoding: 'utf8' },
  );
  if (status === 0) {
    const { waited, ...sample } = JSON.parse(stdout);
    return { ...sample, noise: waited / (performance.now() - start) };
  }
  throw new Error(stderr.split('\n').find((line) => line.includes('Error')));
}

function probeOf({ package: name, loaded, how }) {
  return `
    import { readFileSync } from 'node:fs';
    import { createRequire } from 'node:module';
    const require = createRequire(process.cwd() + '/probe.js');
    const load = (name) => ${how === 'require' ? 'require(name)' : 'import(name)'};
    for (const name of ${JSON.stringify(loaded)}) await load(name);
    const memory = process.memoryUsage.rss();
    const start = performance.now();
    await load(${JSON.stringify(name)});
    const ms = performance.now() - start;
    const megabytes = (process.memoryUsage.rss() - memory) / 1_048_576;
    let waited = 0;
    try {
      waited = Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1e6;
    } catch {} // not Linux
    process.stdout.write(JSON.stringify({ 'import ms': ms, 'import MB': megabytes, waited }));`;
}
