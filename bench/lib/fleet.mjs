// Several processes after one key: what processes.mjs measures on one server and redlock.mjs on several.
import { analyse, orderOf, stayedInProcess } from './analysis.mjs';
import { Noise, quiet } from './noise.mjs';
import { selectionOf } from './own-processes.mjs';
import { sum } from './stats.mjs';
import { now, sleep } from './time.mjs';
import { startWorkers } from './workers.mjs';

export const FLEET_COLUMNS = [
  'name',
  'grants',
  'total ms',
  'total ms/raw',
  'total/ideal',
  'hand-off p50',
  'hand-off p99',
  'commands/grant',
  'client µs',
  'server µs',
  'rank',
  'same process',
  'longest wait',
  'noise',
  'rounds',
];

/**
 * What `use` measures in `count` fresh processes, which know one candidate alone. A burst comes first that is not counted: it
 * connects what is only needed to wait.
 */
export async function inFleet({ name, ...candidate }, option, { ports, feature, ...setting }, use) {
  const selection = selectionOf({ ...candidate, name, raw: undefined }, option, feature);
  const { workers, names } = await startWorkers(option.processes, ports, selection);
  try {
    if (!names.includes(name)) throw new Error('it could not be set up');
    const pids = [...setting.pids, ...workers.map(({ pid }) => pid)];
    const request = { ...option, ...setting, name, pids };
    await measureFleet(workers, { ...request, key: `first:${name}`, mode: 'burst' });
    return await use((key, mode) => measureFleet(workers, { ...request, key, mode }));
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

/** `waiters` in each of the workers. `admin` tells the CPU time of the servers and their round trip; `pids` are all processes. */
async function measureFleet(workers, { admin, pids, patience, ...option }) {
  const { name, key, mode, waiters, ttl, cap, ms = 0 } = option;
  await quiet(patience);
  const roundTrip = await admin.roundTrip();
  const serverCpu = await admin.cpuMicros();
  const request = { name, key, mode, waiters, ttl, cap, ms, startAt: now() + 50 };
  const noise = new Noise(pids);
  const replies = await Promise.all(
    workers.map((worker, i) =>
      worker.call('run', { ...request, firstId: i * waiters }, cap + ms + 10_000),
    ),
  );
  const share = noise.share();
  const run = {
    events: replies.flatMap(({ events }) => events),
    failures: replies.flatMap(({ failures }) => failures),
  };
  const total = (field) => sum(replies.map((reply) => reply[field]));
  const result = analyse(run, { commands: total('commands'), roundTrip });
  const serverMicros = (await admin.cpuMicros()) - serverCpu;
  await sleep(20); // what the last release set off
  return {
    run,
    end: request.startAt + ms,
    result: {
      ...result,
      ...(mode === 'burst' ? { rank: orderOf(run) } : {}),
      'same process': stayedInProcess(run, waiters),
      'client µs': total('cpu') / result.grants,
      'server µs': serverMicros / result.grants,
      unhandled: total('unhandled'),
      noise: share,
    },
  };
}
