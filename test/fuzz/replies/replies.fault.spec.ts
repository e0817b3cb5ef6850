import { ChildProcess } from '../../support/processes/child-process.js';
import { FUZZED, OF_DRIVERS } from './fuzz-replies-of-all.js';

const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 31);
/** Each corrupts about ten answers. */
const ROUNDS = 12;
/** Milliseconds, ten times what they take on a busy machine. */
const WITHIN = 400_000;

/** Resolves with what the fuzzer said, and with the seed after the last one where a driver froze its process. */
async function fuzz(store: string, from: number, rounds: number) {
  const flags = { what: 'replies', store, runs: rounds, seed: from };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  await using child = new ChildProcess('test/fuzz/fuzz.ts', { args });
  const timer = setTimeout(() => void child.kill(), WITHIN);
  const { code } = await child.exited;
  clearTimeout(timer);
  const [frozen] = /^frozen in .*/m.exec(child.output) ?? [];
  const last = [...child.output.matchAll(/^seed (\d+) on/gm)].at(-1)?.[1];
  const isOfDriver = frozen !== undefined && OF_DRIVERS.test(frozen);
  return { code, output: child.output, goOnAt: isOfDriver ? Number(last) + 1 : undefined };
}

it.each(FUZZED)(
  `damaged answers of %s grant nothing, hang nothing and end nothing (seed ${SEED})`,
  async (store) => {
    const end = SEED + ROUNDS;
    let from = SEED;
    while (from < end) {
      const { code, output, goOnAt } = await fuzz(store, from, end - from);
      if (goOnAt === undefined)
        expect([code, output]).toEqual([0, expect.stringContaining(' 0 findings')]);
      from = goOnAt ?? end;
    }
  },
  3 * WITHIN,
);
