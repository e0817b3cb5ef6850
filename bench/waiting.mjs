// What it costs a server that many processes wait for one key, whose holder keeps it all the while. No process is started for
// each of them: a socket sends what the store of a process sends, with the scripts and the pace of lib/. One row is of real
// services, each on connections of its own, and shows what the sockets leave out.
import { once } from 'node:events';
import { Admin } from './lib/admin.mjs';
import { options } from './lib/options.mjs';
import { projectRequire } from './lib/project.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { median } from './lib/stats.mjs';
import { sleep } from './lib/time.mjs';
import { WaitingSocket } from './lib/waiting-socket.mjs';

const option = options(
  { processes: [100, 1_000, 10_000], services: 300, settle: 5_000, ms: 30_000 },
  { processes: [100, 1_000], services: 50, settle: 500, ms: 3_000 },
);
projectRequire('./test/support/jest/register-typescript.cjs');
const { WAIT, LEAVE } = projectRequire('./lib/stores/redis/lua/queue-scripts.ts');
const { BEAT, HEARTBEAT, nextBeat } = projectRequire('./lib/stores/redis/lua/pace.ts');
const { systemClock } = projectRequire('./lib/core/async/clock.ts');
const { LockService, RedisLockStore } = projectRequire('nest-holdfast');
const { Redis } = projectRequire('ioredis');
const KEYS = ['lock:k', '{lock:k}:line', '{lock:k}:shared'];
const TTL = 3_600_000;

const samples = [];
for (const count of option.processes) samples.push(await measure('sockets', count, sockets));
if (option.services > 0) samples.push(await measure('services', option.services, services));
publish(option.out, {
  id: 'waiting',
  title: 'Processes that wait for one key, which is held',
  columns: [
    'name',
    'server %',
    'beats/s',
    'questions/s',
    'server µs/beat',
    'PING p50 ms',
    'bytes/waiter',
    'left',
  ],
  rows: samples,
  samples,
  ms: option.ms,
});
process.exit(0);

async function measure(what, count, make) {
  const server = await startRedis();
  const admin = new Admin(server.port);
  await admin.command('SET', KEYS[0], 'holder', 'PX', TTL);
  const { beginWaiting, leave } = await make(server.port, admin, count);
  await beginWaiting();
  await sleep(option.settle);
  const row = await costs(admin, count);
  const bytes = await admin.command('MEMORY', 'USAGE', KEYS[1], 'SAMPLES', 0);
  await leave();
  const left = (await admin.command('KEYS', '*')).filter((key) => key !== KEYS[0]);
  admin.close();
  await server.stop();
  return { name: `${count} ${what}`, ...row, 'bytes/waiter': bytes / count, left: left.length };
}

async function costs(admin, count) {
  const standing = () => admin.command('ZCOUNT', KEYS[1], 0, 1e12);
  const calls = async (name) => {
    const stats = await admin.command('INFO', 'commandstats');
    return Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  };
  const before = [await admin.cpuMicros(), await calls('evalsha'), await calls('subscribe')];
  const start = performance.now();
  const pings = [];
  while (performance.now() - start < option.ms) {
    const sent = performance.now();
    await admin.command('PING');
    pings.push(performance.now() - sent);
    await sleep(50);
  }
  const seconds = (performance.now() - start) / 1_000;
  const micros = (await admin.cpuMicros()) - before[0];
  const beats = (await calls('evalsha')) - before[1];
  const asked = (await calls('subscribe')) - before[2];
  if ((await standing()) !== count)
    throw new Error(`${await standing()} of ${count} stand in line`);
  return {
    'server %': micros / seconds / 1e4,
    'beats/s': beats / seconds,
    'questions/s': asked / seconds,
    'server µs/beat': micros / beats,
    'PING p50 ms': median(pings),
  };
}

async function sockets(port, admin, count) {
  const [wait, leave] = await Promise.all(
    [WAIT, LEAVE].map(({ source }) => admin.command('SCRIPT', 'LOAD', source)),
  );
  const plan = { wait, leave, keys: KEYS, heartbeat: HEARTBEAT, beat: BEAT, nextBeat };
  const waiting = [];
  return {
    async beginWaiting() {
      const each = { ...plan, now: () => systemClock.now() };
      for (let index = 0; index < count; index += 100) {
        const some = Array.from(
          { length: Math.min(100, count - index) },
          (_, i) => new WaitingSocket(port, index + i, each),
        );
        waiting.push(...some);
        await Promise.all(some.map((socket) => socket.stand()));
      }
    },
    async leave() {
      for (const socket of waiting) socket.leave();
      await empty(admin);
      for (const socket of waiting) socket.close();
    },
  };
}

async function services(port, admin, count) {
  const ends = new AbortController();
  const clients = [];
  const all = [];
  return {
    async beginWaiting() {
      for (let index = 0; index < count; index++) {
        clients.push(new Redis(port));
        await once(clients.at(-1), 'ready');
        const locks = new LockService(new RedisLockStore(clients.at(-1)));
        const wait = { waitTimeout: Infinity, signal: ends.signal };
        all.push(locks.acquire('k', wait).catch(() => {}));
      }
    },
    async leave() {
      ends.abort();
      await Promise.all(all);
      await empty(admin);
      for (const client of clients) client.disconnect();
    },
  };
}

async function empty(admin) {
  while (await admin.command('EXISTS', KEYS[1])) await sleep(20);
}
