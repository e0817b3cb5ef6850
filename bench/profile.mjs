// Where the time of a lock goes: by the clock, while it is alone, and the microseconds that each layer takes per cycle and per
// extension, by V8's sampling profiler. Not a part of the benchmark: the profiler costs time itself.
import { connect, Redis6 } from './lib/clients.mjs';
import { cyclesPerSecond } from './lib/paired.mjs';
import { options } from './lib/options.mjs';
import { LAYERS, profiled } from './lib/profiler.mjs';
import { projectRequire } from './lib/project.mjs';
import { publish } from './lib/results.mjs';
import { fencedCycle, rawCycle, storeCycle } from './lib/plain-cycles.mjs';
import { startRedis } from './lib/servers.mjs';
import { STRETCHES, stretches } from './lib/stretches.mjs';
import { otherWork } from './lib/other-work.mjs';
import { sleep } from './lib/time.mjs';

const option = options({
  concurrency: [1, 16, 256],
  ms: 3_000,
  warmUp: 1_500,
  alone: 4_000,
  paced: 400,
  locks: 10_000,
  ttl: 3_000,
});
const { LockService, RedisLockStore } = projectRequire('nest-holdfast');
const server = await startRedis();
const client = () => connect(Redis6, server.port);
const locks = new LockService(new RedisLockStore(await client()), { ttl: option.ttl });
const candidates = [
  { name: 'raw ioredis', cycle: await rawCycle(await client()) },
  { name: 'RedisLockStore alone', cycle: storeCycle(new RedisLockStore(await client())) },
  { name: 'LockService', cycle: async (index) => (await locks.acquire(`c:${index}`)).release() },
  { name: 'withLock', cycle: (index) => locks.withLock(`w:${index}`, async () => {}) },
];

for (const concurrency of option.concurrency) {
  const rows = [];
  for (const { name, cycle } of candidates) {
    await cyclesPerSecond(cycle, concurrency, option.warmUp);
    const { result, cpu, layers } = await profiled(() =>
      cyclesPerSecond(cycle, concurrency, option.ms),
    );
    const cycles = (result * option.ms) / 1_000;
    rows.push({ name, 'cycles/s': result, 'client µs': cpu / cycles, ...shares(layers, cycles) });
  }
  publish(option.out, {
    id: `profile-${concurrency}`,
    title: `Where the microseconds of a cycle go, concurrency ${concurrency}`,
    columns: ['name', 'cycles/s', 'client µs', ...LAYERS],
    rows,
  });
}

const fenced = {
  name: 'raw ioredis with a fencing token',
  cycle: await fencedCycle(await client()),
};
const byTheClock = [candidates[0], fenced, ...candidates.slice(1)];
await byClock('alone', 'a cycle that is alone', { rounds: option.alone });
let seed = 0;
await byClock('paced', 'a cycle now and then', {
  rounds: option.paced,
  pause: () => (otherWork(seed++), sleep(5)),
});

const held = await takeMany(option.locks);
await sleep(option.ttl); // until the extensions are spread
const { cpu, layers } = await profiled(() => sleep(option.ms));
publish(option.out, {
  id: 'profile-held',
  title: `Where the time of ${held.length} held locks of ttl ${option.ttl} ms goes, % of one core`,
  columns: ['name', 'client %', ...LAYERS],
  rows: [
    { name: 'LockService', 'client %': cpu / option.ms / 10, ...shares(layers, option.ms * 10) },
  ],
});
process.exit(0);

function shares(micros, count) {
  return Object.fromEntries(LAYERS.map((layer) => [layer, micros[layer] / count]));
}

async function takeMany(count) {
  const taken = [];
  while (taken.length < count) {
    const keys = Array.from({ length: 500 }, (_, index) => `h:${taken.length + index}`);
    taken.push(...(await Promise.all(keys.map((key) => locks.acquire(key)))));
  }
  return taken;
}

/** Each stretch of a cycle, which is alone or comes after each `pause`. */
async function byClock(id, what, { rounds, pause }) {
  const rows = await stretches(byTheClock, { rounds, warmUp: rounds / 4, pause });
  publish(option.out, {
    id: `profile-${id}`,
    title: `Where the microseconds of ${what} go, by the clock (${rounds} rounds)`,
    columns: ['name', ...STRETCHES, 'total', 'total/raw'],
    rows: rows.map((row) => ({ ...row, 'total/raw': row.total / rows[0].total })),
  });
}
