// Many requests for one key at once: what contended.mjs measures on one server and redlock.mjs on several.
import { analyse, orderOf } from './analysis.mjs';
import { burst } from './contention.mjs';
import { Noise, quiet } from './noise.mjs';
import { stray } from './stray.mjs';
import { sleep } from './time.mjs';
import { wire } from './wire.mjs';

export const BURST_COLUMNS = [
  'name',
  'grants',
  'total ms',
  'total ms/raw',
  'total/ideal',
  'hand-off p50',
  'hand-off p50/raw',
  'hand-off p99',
  'commands/grant',
  'client µs',
  'server µs',
  'rank',
  'longest wait',
  'noise',
  'rounds',
];
export const BURST_RATIOS = ['total ms', 'hand-off p50'];
export const TROUBLES = ['overlaps', 'failed', 'failed releases', 'unhandled', 'error'];

/** `waiters` in this process. `admin` tells the CPU time of the servers, whose processes are `pids`, and their round trip. */
export async function measureBurst(candidate, { key, waiters, ttl, cap, patience, admin, pids }) {
  await quiet(patience);
  const roundTrip = await admin.roundTrip();
  const serverCpu = await admin.cpuMicros();
  const before = { commands: wire.commands, stray: stray.count, cpu: process.cpuUsage() };
  const noise = new Noise([process.pid, ...pids]);
  const run = await burst(candidate, { key, waiters, ttl, cap });
  const share = noise.share();
  const { user, system } = process.cpuUsage(before.cpu);
  const result = analyse(run, { commands: wire.commands - before.commands, roundTrip });
  const serverMicros = (await admin.cpuMicros()) - serverCpu;
  await sleep(20); // what the last release set off
  return {
    ...result,
    rank: orderOf(run),
    'client µs': (user + system) / result.grants,
    'server µs': serverMicros / result.grants,
    unhandled: stray.count - before.stray,
    noise: share,
  };
}
