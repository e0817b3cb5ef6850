// Held locks that are kept alive: 10,000 of them for a while, and 1,000 while the server stands still for a moment.
import { options } from './lib/options.mjs';
import { OwnProcesses } from './lib/own-processes.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { summarise } from './lib/summary.mjs';

const option = options(
  {
    rounds: 3,
    ttl: 3_000,
    locks: 10_000,
    hold: 6_000,
    pauseLocks: 1_000,
    pauseHold: 4_200,
    pauseAt: 2_150,
    pause: 1_000,
  },
  {
    rounds: 1,
    ttl: 900,
    locks: 1_000,
    hold: 1_200,
    pauseLocks: 200,
    pauseHold: 1_000,
    pauseAt: 600,
    pause: 300,
  },
);
const { ttl, rounds } = option;
const server = await startRedis();
const own = await OwnProcesses.start(option, server.port, [server.pid], { feature: 'renew' });
const troubles = ['told lost', 'failed releases', 'unhandled'];

const held = await own.inRounds({ rounds }, 'hold', () => {
  return { ttl, count: option.locks, hold: option.hold };
});
publish(option.out, {
  id: 'renewal',
  title: `${option.locks} held locks of ttl ${ttl} ms (${rounds} rounds)`,
  columns: [
    'name',
    'held s',
    'lost',
    'client %',
    'client %/raw',
    'server %',
    'commands/lock/ttl',
    'writes/s',
    'timers',
    'KB/lock',
    'lowest ttl ms',
    'acquire ms',
    'release ms',
    'noise',
  ],
  troubles,
  rows: summarise(held, own.candidates, { ratios: ['client %'] }),
  samples: held,
  locks: option.locks,
  ttl,
});

const { pauseAt: at, pause: ms } = option;
const paused = await own.inRounds({ rounds }, 'hold', () => {
  return { ttl, count: option.pauseLocks, hold: option.pauseHold, pause: { at, ms } };
});
publish(option.out, {
  id: 'pause',
  title: `${option.pauseLocks} held locks of ttl ${ttl} ms while the server stands still for ${ms} ms (${rounds} rounds)`,
  columns: ['name', 'lost', 'lowest ttl ms', 'commands/lock/ttl', 'client %', 'noise'],
  troubles,
  rows: summarise(paused, own.candidates),
  samples: paused,
  locks: option.pauseLocks,
  pause: ms,
});
await own.stop();
await server.stop();
process.exit(0);
