// A process that does what it is told, with one candidate or with all, and answers with what came of it.
import { Admins } from './admins.mjs';
import { measureBurst } from './bursts.mjs';
import { loadCandidates, setUp } from './candidates.mjs';
import { burst, steady } from './contention.mjs';
import { besideRaw, cycles } from './cycles.mjs';
import { stray } from './stray.mjs';
import { firstLine, now, sleep } from './time.mjs';
import { watchPorts, wire } from './wire.mjs';

let candidates = [];
let admin;
const held = new Map();

const tasks = {
  async setUp({ ports, selection: { feature, ...filters } }) {
    watchPorts(...ports);
    admin = new Admins(ports);
    candidates = await setUp(await loadCandidates(filters, feature), ports, filters);
    return candidates.map(({ name }) => name);
  },

  /** Until the code is compiled. */
  async warmUp({ concurrency, ms, isFresh }) {
    for (const each of candidates) await cycles(each, concurrency, ms, { isFresh });
  },

  cycles: ({ name, round, ...option }) => besideRaw(candidates, name, round, { ...option, admin }),

  burst: ({ name, ...request }) => measureBurst(byName(name), { ...request, admin }),

  /** Starts at the same moment as the other workers. */
  async run({ name, mode, startAt, ...request }) {
    const before = { commands: wire.commands, stray: stray.count, cpu: process.cpuUsage() };
    await sleep(Math.max(0, startAt - now()));
    const run = mode === 'burst' ? burst : steady;
    const { events, failures } = await run(byName(name), request);
    const { user, system } = process.cpuUsage(before.cpu);
    return {
      events,
      failures,
      commands: wire.commands - before.commands,
      cpu: user + system,
      unhandled: stray.count - before.stray,
    };
  },

  /** Takes the key and keeps it until `release`. */
  async take({ name, key, ttl, cap }) {
    const asked = now();
    held.set(key, await byName(name).acquire(key, { ttl, wait: cap }));
    return { asked, granted: now() };
  },

  async release({ key }) {
    const released = now();
    await held.get(key).release();
    return { released };
  },
};

process.on('disconnect', () => process.exit(0));
process.on('message', async ({ id, task, args }) => {
  const reply = await tasks[task](args).then(
    (value) => ({ value }),
    (error) => ({ error: firstLine(error) }),
  );
  process.send({ id, ...reply });
});

const byName = (wanted) => candidates.find(({ name }) => name === wanted);
