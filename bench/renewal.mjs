// Held locks that are kept alive: 10,000 of them for a while, and 1,000 while the server stands still for a moment.
import { Admin } from './lib/admin.mjs';
import { loadCandidates, setUp, tearDown } from './lib/candidates.mjs';
import { Holding } from './lib/holding.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { inRounds } from './lib/rounds.mjs';
import { startRedis } from './lib/servers.mjs';
import { summarise } from './lib/summary.mjs';
import { watchPorts } from './lib/wire.mjs';

const option = options(
  {
    ttl: 3_000,
    locks: 10_000,
    hold: 30_000,
    peerHold: 9_000,
    pauseLocks: 1_000,
    pauseHold: 4_200,
    pauseAt: 2_150,
    pause: 1_000,
  },
  {
    ttl: 900,
    locks: 1_000,
    hold: 1_200,
    peerHold: 900,
    pauseLocks: 200,
    pauseHold: 1_000,
    pauseAt: 600,
    pause: 300,
  },
);
const { ttl } = option;
const server = await startRedis();
watchPorts(server.port);
const admin = new Admin(server.port);
const candidates = await setUp(await loadCandidates(option, 'renew'), server.port, option);
const holding = new Holding({ server, admin, ttl });
const troubles = ['told lost', 'failed releases', 'unhandled'];

const held = await inRounds(candidates, { rounds: 1 }, (each) => {
  const hold = each.library === 'nest-holdfast' ? option.hold : option.peerHold;
  return holding.measure(each, { count: option.locks, hold });
});
publish(option.out, {
  id: 'renewal',
  title: `${option.locks} held locks of ttl ${ttl} ms`,
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
  rows: summarise(held, candidates, { ratios: ['client %'] }),
  samples: held,
  locks: option.locks,
  ttl,
});

const { pauseAt: at, pause: ms } = option;
const paused = await inRounds(candidates, { rounds: 1 }, (each) =>
  holding.measure(each, { count: option.pauseLocks, hold: option.pauseHold, pause: { at, ms } }),
);
publish(option.out, {
  id: 'pause',
  title: `${option.pauseLocks} held locks of ttl ${ttl} ms while the server stands still for ${ms} ms`,
  columns: ['name', 'lost', 'lowest ttl ms', 'commands/lock/ttl', 'client %', 'noise'],
  troubles,
  rows: summarise(paused, candidates),
  samples: paused,
  locks: option.pauseLocks,
  pause: ms,
});
await tearDown(candidates);
admin.close();
await server.stop();
process.exit(0);
