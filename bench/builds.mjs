// The CPU of one cycle that is alone, of the raw commands and of several builds of the project in turn: after a pause, and after a
// forced collection. Not a part of a run: for one change, beside the build before it, also on a machine that has other work.
//   node --expose-gc bench/builds.mjs before=/path/to/another/checkout now=.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { connect, Redis6 } from './lib/clients.mjs';
import { rawCycle } from './lib/plain-cycles.mjs';
import { startRedis } from './lib/servers.mjs';
import { sleep } from './lib/time.mjs';

const WARM_UP = 4_000;
const ROUNDS = 100;
const PAUSE = 5;

const server = await startRedis();
const candidates = [
  {
    name: 'raw',
    cycle: await rawCycle(await connect(Redis6, server.port)),
    paused: [],
    collected: [],
  },
];
for (const build of process.argv.slice(2)) {
  const [name, folder] = build.split('=');
  const { LockService, RedisLockStore } = createRequire(resolve(folder, 'package.json'))(
    'nest-holdfast',
  );
  const locks = new LockService(new RedisLockStore(await connect(Redis6, server.port)));
  const cycle = async () => (await locks.acquire(name)).release();
  candidates.push({ name, cycle, paused: [], collected: [] });
}
for (const { cycle } of candidates) for (let count = 0; count < WARM_UP; count++) await cycle();
for (let round = 0; round < ROUNDS; round++) {
  candidates.push(candidates.shift());
  for (const { cycle, paused } of candidates) {
    await sleep(PAUSE);
    paused.push(await microseconds(cycle));
  }
  for (const { cycle, collected } of candidates) {
    globalThis.gc();
    await sleep(PAUSE);
    collected.push(await microseconds(cycle));
  }
}
const raw = candidates.find(({ name }) => name === 'raw');
const shown = (of, candidate) => {
  const ratio = lowerQuartile(candidate[of]) / lowerQuartile(raw[of]);
  return `${lowerQuartile(candidate[of])} µs, ${ratio.toFixed(2)} of raw`;
};
for (const each of candidates)
  console.log(
    `${each.name}: ${shown('paused', each)}; after a collection ${shown('collected', each)}`,
  );
process.exit(0);

async function microseconds(cycle) {
  const before = process.cpuUsage();
  await cycle(0);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function lowerQuartile(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)];
}
