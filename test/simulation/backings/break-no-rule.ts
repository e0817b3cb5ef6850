import { scheduleOf } from '../schedule.js';
import type { Backing } from '../schedule.js';
import { simulate } from '../simulation.js';

const BEGIN = 1_000;
const HOUR = 3_600_000;

/**
 * A test of as many schedules as are named. The specs of the backings run more than a hundred thousand together, some twelve minutes
 * of a processor, at the same time. `npm run simulate` runs more.
 */
export function breakNoRule(backing: Backing, schedules: number): void {
  it(
    `${schedules} schedules on ${backing} break no rule`,
    async () => {
      for (let seed = BEGIN; seed < BEGIN + schedules; seed++) {
        const { violations } = await simulate(scheduleOf(seed, backing));
        if (violations.length > 0) throw new Error(`seed ${seed} on ${backing}: ${violations.join('\n')}`); // prettier-ignore
      }
    },
    HOUR,
  );
}
