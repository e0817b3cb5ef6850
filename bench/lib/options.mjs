import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const BENCH = fileURLToPath(new URL('..', import.meta.url));

/** Of everything that is left to chance. */
export const SEED = seedOf(process.argv);
process.env.BENCH_SEED = String(SEED); // for the processes that this one starts

const COMMON = { only: '', skip: '', adapters: '', out: join(BENCH, 'out'), quick: false, seed: 1 };

/**
 * The command line on top of `defaults`; with `--quick`, on top of `quick` on top of them. A default tells its option's type:
 * a number, a list of numbers (`--waiters 2,16`), text, or a switch.
 */
export function options(defaults = {}, quick = {}) {
  const argv = process.argv.slice(2);
  const known = { ...COMMON, ...defaults };
  const given = {};
  for (let i = 0; i < argv.length; i++) {
    const name = argv[i].replace(/^--/, '');
    if (!(name in known))
      throw new Error(`unknown option ${argv[i]}; known: ${Object.keys(known)}`);
    given[name] = known[name] === false ? true : parse(argv[++i], known[name]);
  }
  return { ...known, ...(given.quick ? quick : {}), ...given };
}

function seedOf(argv) {
  const at = argv.indexOf('--seed');
  return Number(at < 0 ? (process.env.BENCH_SEED ?? 1) : argv[at + 1]);
}

function parse(text, like) {
  if (Array.isArray(like)) return text.split(',').map(Number);
  return typeof like === 'number' ? Number(text) : text;
}
