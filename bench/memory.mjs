// What locks take of the server's memory: while they are held, and after their release, with keys that were never used before.
import { Admin } from './lib/admin.mjs';
import { loadCandidates, setUp, tearDown } from './lib/candidates.mjs';
import { options } from './lib/options.mjs';
import { publish } from './lib/results.mjs';
import { startRedis } from './lib/servers.mjs';
import { summarise } from './lib/summary.mjs';

const option = options({ locks: 10_000, atATime: 100 }, { locks: 500 });
const TTL = 60_000;

const server = await startRedis();
const admin = new Admin(server.port);
const candidates = await setUp(await loadCandidates(option, 'wait'), server.port, option);
const samples = [];
for (const each of candidates) samples.push({ name: each.name, ...(await measure(each)) });
publish(option.out, {
  id: 'memory',
  title: `${option.locks} keys, locked and released`,
  columns: ['name', 'bytes held/key', 'keys left', 'bytes left', 'bytes left/key', 'gone after s'],
  rows: summarise(samples, candidates),
  samples,
  locks: option.locks,
});
await tearDown(candidates);
admin.close();
await server.stop();
process.exit(0);

async function measure(candidate) {
  await admin.command('FLUSHALL');
  const held = await inParts((key) => candidate.acquire(key, { ttl: TTL, wait: 1_000 }));
  const { bytes: holding } = await memory();
  await inParts((_, index) => held[index].release());
  const { bytes, keys, longest } = await memory();
  return {
    'bytes held/key': holding / option.locks,
    'keys left': keys,
    'bytes left': bytes,
    'bytes left/key': bytes / option.locks,
    'gone after s': longest,
  };

  /** As many at a time as an application has under way. */
  async function inParts(call) {
    const results = [];
    for (let from = 0; from < option.locks; from += option.atATime) {
      const part = Array.from({ length: option.atATime }, (_, index) => from + index);
      const calls = part.map((index) =>
        call(`order:${candidate.name}:${1_000_000 + index}`, index),
      );
      results.push(...(await Promise.all(calls)));
    }
    return results;
  }
}

/** All keys with what is beside them: their bytes, and the seconds until the last of them expires. */
async function memory() {
  const keys = await admin.command('KEYS', '*');
  const sizes = await admin.pipeline(keys.map((key) => ['MEMORY', 'USAGE', key, 'SAMPLES', '0']));
  const ttls = await admin.pipeline(keys.map((key) => ['TTL', key]));
  const isForEver = ttls.some((ttl) => ttl === -1);
  return {
    keys: keys.length,
    bytes: sizes.reduce((sum, size) => sum + (size ?? 0), 0),
    longest: isForEver ? 'never' : Math.max(0, ...ttls),
  };
}
