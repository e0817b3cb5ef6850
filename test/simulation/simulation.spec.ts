import { BACKINGS, scheduleOf } from './schedule.js';
import { simulate } from './simulation.js';

const SCHEDULES = 100;

describe.each(BACKINGS)('the simulation on %s', (backing) => {
  async function traceOf(seed: number): Promise<string> {
    const lines: string[] = [];
    await simulate(scheduleOf(seed, backing), { trace: (line) => lines.push(line) });
    return lines.join('\n');
  }

  it('replays a seed byte for byte, whatever ran before', async () => {
    const first = await traceOf(3);
    expect(await traceOf(4)).not.toBe(first);
    expect(await traceOf(3)).toBe(first);
    expect(first).toMatch(/process \d: \d has /);
  });

  it('finds no violation', async () => {
    for (let seed = 1; seed <= SCHEDULES; seed++) {
      const { violations } = await simulate(scheduleOf(seed, backing));
      expect([seed, ...violations]).toEqual([seed]);
    }
  });
});
