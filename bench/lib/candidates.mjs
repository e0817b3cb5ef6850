import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BENCH } from './options.mjs';
import { firstLine, within } from './time.mjs';

/**
 * What every file of adapters/, or of a folder in there, and every `--adapters` file makes, or the given `files` alone, filtered
 * by `--only a,b*` and `--skip`. A quick run takes each library in its best configuration alone.
 */
export async function loadCandidates({ only, skip, quick, ...where }, feature, subfolder = '') {
  const made = await Promise.all((where.files ?? adapterFiles(where, subfolder)).map(load));
  return made
    .flat()
    .filter(({ features }) => !feature || features.includes(feature))
    .filter((each) => (only ? matches(each, only) : !quick || each.quick))
    .filter((each) => !skip || !matches(each, skip));
}

/** Those that could be set up on one port or several; the others are reported and left out. */
export async function setUp(candidates, ports, { quick } = {}) {
  const isReady = await Promise.all(
    candidates.map(async (candidate) => {
      try {
        await within(candidate.setup(...[ports].flat()), 20_000, 'setup took too long');
        await within(warmUp(candidate, quick ? 20 : 100), 20_000, 'first locks took too long');
        return true;
      } catch (error) {
        console.error(`# ${candidate.name} is left out: ${firstLine(error)}`);
        return false;
      }
    }),
  );
  return candidates.filter((_, index) => isReady[index]);
}

export async function tearDown(candidates) {
  const closing = candidates.map((each) => within(each.close(), 2_000, 'close took too long'));
  await Promise.allSettled(closing); // the process ends anyway
}

/** Another one goes first in every round. */
export function rotate(list, by) {
  const start = list.length ? by % list.length : 0;
  return [...list.slice(start), ...list.slice(0, start)];
}

function adapterFiles({ adapters }, subfolder) {
  const folder = join(BENCH, 'adapters', subfolder);
  const own = readdirSync(folder)
    .filter((file) => file.endsWith('.mjs'))
    .toSorted();
  const others = adapters ? adapters.split(',').map((file) => resolve(file)) : [];
  return [...own.map((file) => join(folder, file)), ...others];
}

async function load(file) {
  try {
    const { default: make } = await import(pathToFileURL(file).href);
    return make().map((each) => ({ ...each, file }));
  } catch (error) {
    console.error(`# ${file} is left out: ${firstLine(error)}`);
    return [];
  }
}

async function warmUp(candidate, count) {
  const key = `warm:${process.pid}:${candidate.name}`;
  for (let i = 0; i < count; i++) {
    const lock = await candidate.acquire(key, { ttl: 10_000, wait: 1_000 });
    await lock.release();
  }
}

function matches({ name }, patterns) {
  return patterns
    .split(',')
    .some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : name === each));
}
