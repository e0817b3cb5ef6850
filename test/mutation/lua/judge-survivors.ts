// `npm run mutation:lua:specs`: the mutants that the properties did not notice in the last run, before the specs of the Redis store.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Mutant } from './mutants.js';
import { FOLDERS, SpecJudge } from './spec-judge.js';

interface Judged extends Mutant {
  end: 'killed' | 'survived' | 'not run';
  /** The test that notices it. */
  by?: string;
}

const { values } = parseArgs({
  options: {
    report: { type: 'string', default: 'reports/mutation/lua.json' },
    /** Of test/stores/redis. */
    folders: { type: 'string', default: FOLDERS.join(',') },
  },
});

async function main(): Promise<void> {
  const all = JSON.parse(readFileSync(values.report, 'utf8')) as Judged[];
  const survivors = all.filter(({ end }) => end !== 'killed');
  const judge = new SpecJudge();
  await judge.prepare(values.folders.split(','));
  for (const each of survivors) {
    const by = await judge.noticedBy(each);
    if (by !== undefined) Object.assign(each, { end: 'killed', by });
    console.log(`${each.line.trim()}\n  ${each.mutated.trim()}\n  ${by ?? 'survived'}`);
    writeFileSync(values.report, JSON.stringify(all, undefined, 2));
  }
  const left = all.filter(({ end }) => end !== 'killed').length;
  console.log(
    `${survivors.length} mutants, ${survivors.length - left} noticed by specs, ${left} survived`,
  );
}

process.on('unhandledRejection', (error) => console.error('unhandled', error));
void main().finally(() => process.exit());
