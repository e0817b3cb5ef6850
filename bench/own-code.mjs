// What our own code costs a lock that is alone, of several builds of the project in turn: cold, after other work and with empty
// caches, and hot, in a loop. The client answers at once, without the server: so the figures repeat on a machine with other work.
//   node bench/own-code.mjs before=/path/to/another/checkout now=.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { connect, Redis5 } from './lib/clients.mjs';
import { otherWork } from './lib/other-work.mjs';
import { startRedis } from './lib/servers.mjs';
import { quantile } from './lib/stats.mjs';
import { sleep } from './lib/time.mjs';

const WARM_UP = 2_000;
const COLD = 400;
const HOT = 3_000;

const server = await startRedis();
const builds = [];
for (const build of process.argv.slice(2)) {
  const [name, folder] = build.split('=');
  builds.push({ name, cycle: await cycleOf(name, folder), cold: [], hot: [] });
}
const memory = new Float64Array(1 << 20);
for (let round = 0; round < COLD; round++) {
  builds.push(builds.shift());
  for (const { cycle, cold } of builds) {
    await sleep(1);
    otherWork(round);
    for (let index = 0; index < memory.length; index += 8) memory[index] += 1; // nothing of ours stays in a cache
    cold.push(await microseconds(cycle));
  }
}
for (const { cycle, hot } of builds)
  for (let count = 0; count < HOT; count++) hot.push(await microseconds(cycle));
for (const { name, cold, hot } of builds) {
  const [low, lower, half] = [0.1, 0.25, 0.5].map((q) => quantile(cold, q).toFixed(0));
  console.log(
    `${name}: cold ${low}, ${lower}, ${half} µs (p10, p25, p50); hot ${quantile(hot, 0.25).toFixed(1)} µs`,
  );
}
await server.stop();
process.exit(0);

/** The first cycles are answered by the server, which learns the scripts; those behind them by the client. */
async function cycleOf(name, folder) {
  const { LockService, RedisLockStore } = createRequire(resolve(folder, 'package.json'))(
    'nest-holdfast',
  );
  const client = await connect(Redis5, server.port);
  const locks = new LockService(new RedisLockStore(client, { serverChecks: false }));
  const options = () => ({ ttl: 10_000, waitTimeout: 0, autoExtend: false });
  const cycle = async () => (await locks.acquire(name, options())).release();
  for (let count = 0; count < 100; count++) await cycle();
  let token = Date.now() * 1_000;
  client.evalsha = (sha1, keys, ...rest) => Promise.resolve(rest[keys + 1] === '-' ? 1 : ++token);
  for (let count = 0; count < WARM_UP; count++) await cycle();
  return cycle;
}

async function microseconds(cycle) {
  const before = performance.now();
  await cycle();
  return (performance.now() - before) * 1_000;
}
