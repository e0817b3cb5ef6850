import { existsSync } from 'node:fs';
import type { Bug } from '../bug.js';
import { type Backing, scheduleOf } from '../schedule.js';
import { ruleBroken, shrink } from '../shrink.js';
import { hidesLosses } from './service-bugs.js';
import { releasesWhatIsNotItsOwn } from './store-bugs.js';
import { type NotInARun, OTHERS, TRAPS, isPlanted } from './traps.js';

const MOST = 10_000;

/** The first seed whose run breaks a rule, and the rule. */
async function found(bug: Bug, backing: Backing): Promise<[seed: number, rule: string]> {
  for (let seed = 1; seed <= MOST; seed++) {
    const rule = await ruleBroken(scheduleOf(seed, backing), bug);
    if (rule !== undefined) return [seed, rule];
  }
  throw new Error(`not found in ${MOST} schedules`);
}

jest.setTimeout(1_200_000);

describe('a planted bug', () => {
  const lines: string[] = [];
  afterAll(() => process.stdout.write(`${lines.join('\n')}\n`));

  for (const [what, planted, backing] of [...TRAPS, ...OTHERS].filter(isPlanted)) {
    it(`is found: ${what}`, async () => {
      const [seed, rule] = await found(planted, backing);
      lines.push(`${what}: found on ${backing} after ${seed} schedules, by "${rule}"`);
      expect(await ruleBroken(scheduleOf(seed, backing), {})).toBeUndefined();
    });
  }

  it('is of each of the 31 kinds that are known, but for eight that cannot occur in a run', () => {
    expect(TRAPS).toHaveLength(31);
    const others = TRAPS.filter((trap): trap is NotInARun => !isPlanted(trap));
    expect(others).toHaveLength(8);
    for (const [what, because, spec] of others) {
      lines.push(`${what}: ${because}; see ${spec}`);
      expect([spec, existsSync(spec)]).toEqual([spec, true]);
    }
  });
});

it.each([
  ['a silent loss', hidesLosses],
  ['a release of what is not its own', releasesWhatIsNotItsOwn],
])('%s is shrunk to a handful of steps', async (_, bug) => {
  const [seed, rule] = await found(bug, 'remote');
  const shortest = await shrink(scheduleOf(seed, 'remote'), bug);
  expect(await ruleBroken(shortest, bug)).toBe(rule);
  expect(shortest.actions.length + shortest.faults.length).toBeLessThanOrEqual(5);
});
