// A process that does what it is told, with one candidate and its raw client, and answers with what came of it.
import { Admins } from './admins.mjs';
import { measureBurst } from './bursts.mjs';
import { loadCandidates, setUp } from './candidates.mjs';
import { burst, steady } from './contention.mjs';
import { besideRaw, cycles } from './cycles.mjs';
import { Holding } from './holding.mjs';
import { measurePaced } from './pacing.mjs';
import { spread } from './spread.mjs';
import { stray } from './stray.mjs';
import { answer } from './tasks.mjs';
import { now, sleep } from './time.mjs';
import { watchPorts, wire } from './wire.mjs';

let candidates = [];
let admin;
const held = new Map();
/** Where no server is asked what it has cost. */
const NO_ADMIN = { cpuMicros: async () => NaN, roundTrip: async () => NaN };

answer({
  /** `system`: its id, where it is not Redis alone. `services`: how many instances of a candidate share its requests. */
  async setUp({ addresses, system, services = 1, selection: { feature, ...filters } }) {
    const folder = await watch(system, addresses);
    admin = system ? NO_ADMIN : new Admins(addresses);
    const load = () => loadCandidates(filters, feature, folder);
    const [first, ...others] = await Promise.all(Array.from({ length: services }, load));
    const together = (each, index) => spread([each, ...others.map((set) => set[index])]);
    const loaded = services > 1 ? first.map(together) : first;
    candidates = await setUp(loaded, addresses, filters);
    return candidates.map(({ name }) => name);
  },

  /** Until the code is compiled. */
  async warmUp({ concurrency, ms, isFresh }) {
    for (const each of candidates) await cycles(each, concurrency, ms, { isFresh });
  },

  cycles: ({ name, round, ...option }) => besideRaw(candidates, name, round, { ...option, admin }),

  paced: ({ name, round, ...option }) => measurePaced(candidates, name, round, option),

  burst: ({ name, ...request }) => measureBurst(byName(name), { ...request, admin }),

  hold: ({ name, pids: [pid], ttl, ...request }) =>
    new Holding({ pid, admin: admin.first, ttl }).measure(byName(name), request),

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
});

/** Counts the requests from now on. Resolves with the folder of the adapters. */
async function watch(id, addresses) {
  if (!id) return watchPorts(...addresses);
  const { SYSTEMS } = await import('./systems.mjs'); // candidates on Redis alone share their process with less
  const system = SYSTEMS.find((each) => each.id === id);
  await system.watch(...addresses);
  return system.folder;
}

const byName = (wanted) => candidates.find(({ name }) => name === wanted);
