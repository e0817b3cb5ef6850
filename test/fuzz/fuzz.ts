// `npm run fuzz -- --seed 1 --runs 10000 --what options`. A seed gives the same inputs each time.
import { parseArgs } from 'node:util';
import { fuzzKeyTemplates } from './keys/fuzz-key-templates.js';
import { fuzzAllReplies } from './replies/fuzz-replies-of-all.js';
import { fuzzOptions } from './options/fuzz-options.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '10000' },
    what: { type: 'string' },
    store: { type: 'string' },
  },
});
/** Each resolves with a text for each rule that was broken. */
const FUZZERS: Readonly<
  Record<string, (runs: number, seed: number) => readonly string[] | Promise<readonly string[]>>
> = {
  keys: fuzzKeyTemplates,
  options: fuzzOptions,
  /** Starts servers; a round takes a second or more. */
  replies: (rounds, from) => fuzzAllReplies(rounds, from, values.store),
};

const seed = Number(values.seed);
const runs = Number(values.runs);
const names = Object.keys(FUZZERS).filter((each) => each === (values.what ?? each)); // prettier-ignore

async function main(): Promise<void> {
  if (!Number.isInteger(seed) || !(runs >= 1) || names.length === 0)
    throw new Error(`--seed and --runs are whole numbers, --what is one of ${Object.keys(FUZZERS).join(', ')}`); // prettier-ignore
  for (const name of names) {
    const startedAt = performance.now();
    const found = await FUZZERS[name]!(runs, seed);
    for (const each of found) console.log(`${name}: ${each}`);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${name}: ${runs} runs from seed ${seed}, ${found.length} findings, ${seconds} s`);
    if (found.length > 0) process.exitCode = 1;
  }
}

process.on('unhandledRejection', (error) => {
  console.error('unhandled rejection', error);
  process.exitCode = 1;
});

void main()
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(() => process.exit()); // whatever a server or a client has left open
