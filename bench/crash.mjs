// What a dead or hung process costs the others: the time until the next waiter has the lock. The candidates wait side by side
// on keys of their own, so that one scenario takes no longer than the slowest of them.
import { loadCandidates } from './lib/candidates.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { summarise } from './lib/summary.mjs';
import { sleep } from './lib/time.mjs';
import { startWorkers } from './lib/workers.mjs';

const option = options(
  { rounds: 2, ttl: 2_000, cap: 12_000, stagger: 30 },
  { rounds: 1, ttl: 1_000, cap: 3_000, stagger: 20 },
);
const SCENARIOS = {
  'holder killed': holderKilled,
  'waiter killed': (...args) => waiterGone('SIGKILL', ...args),
  'waiter hung': (...args) => waiterGone('SIGSTOP', ...args),
};
/** A holder that lives keeps its key for the whole scenario. */
const LONG = 60_000;

const selection = { ...option, feature: 'wait' };
const candidates = await loadCandidates(option, 'wait');
const samples = [];
for (let round = 0; round < option.rounds; round++) {
  const times = new Map(candidates.map(({ name }) => [name, { name, round }]));
  for (const [scenario, run] of Object.entries(SCENARIOS)) {
    const server = await startRedis(); // a new one: a candidate may leave its server in a bad state
    const { workers, names } = await startWorkers(3, server.port, selection);
    const found = await run(workers, names, scenario);
    await Promise.all(workers.map((worker) => worker.stop()));
    await server.stop();
    for (const { name } of candidates) times.get(name)[`${scenario}, ms`] = found.get(name) ?? NaN;
  }
  samples.push(...times.values());
}
publish(option.out, {
  id: 'crash',
  title: `Time until the next waiter has the lock, ttl ${option.ttl} ms (${option.rounds} rounds)`,
  columns: ['name', ...Object.keys(SCENARIOS).map((scenario) => `${scenario}, ms`)],
  rows: summarise(samples, candidates),
  samples,
  ttl: option.ttl,
  cap: option.cap,
});
process.exit(0);

/** Counted from the moment at which the dead holder's ttl runs out. */
async function holderKilled([holder, waiter], names, scenario) {
  const held = await each(names, (name) => take(holder, name, scenario, option.ttl));
  const next = each(names, (name) => take(waiter, name, scenario, option.ttl), 0);
  await sleep(100);
  holder.kill();
  return differences(
    names,
    await next,
    held,
    ({ granted }, { asked }) => granted - (asked + option.ttl),
  );
}

/** The first in line is killed or stopped, then the holder releases: counted from there. */
async function waiterGone(signal, [holder, first, second], names, scenario) {
  await each(names, (name) => take(holder, name, scenario, LONG));
  void each(names, (name) => take(first, name, scenario, option.ttl), 0); // never answers
  await sleep(150);
  const next = each(names, (name) => take(second, name, scenario, option.ttl), 0);
  await sleep(150);
  first.kill(signal);
  await sleep(100);
  const released = await each(names, (name) =>
    holder.call('release', { key: keyOf(name, scenario) }),
  );
  return differences(names, await next, released, (taken, freed) => taken.granted - freed.released);
}

function take(worker, name, scenario, ttl) {
  const args = { name, key: keyOf(name, scenario), ttl, cap: option.cap };
  return worker.call('take', args, option.cap + 2_000);
}

/** One after the other with a little time between them; what failed is `undefined`. */
async function each(names, task, pause = option.stagger) {
  const results = [];
  for (const name of names) {
    results.push(task(name).catch(() => undefined));
    await sleep(pause);
  }
  return Promise.all(results);
}

function differences(names, after, before, of) {
  const times = names.map((_, i) => (after[i] && before[i] ? of(after[i], before[i]) : NaN));
  return new Map(names.map((name, i) => [name, times[i]]));
}

function keyOf(name, scenario) {
  return `crash:${name}:${scenario}`; // workers are new in every round
}
