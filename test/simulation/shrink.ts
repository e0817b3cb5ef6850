import type { Bug } from './bug.js';
import type { Action, Schedule } from './schedule.js';
import { simulate } from './simulation.js';

/** Removes actions and faults, and simplifies the rest, while the run still breaks the same rule. */
export async function shrink(schedule: Schedule, bug: Bug = {}): Promise<Schedule> {
  const kind = await ruleBroken(schedule, bug);
  if (kind === undefined) return schedule;
  let shortest = schedule;
  for (let next: Schedule | undefined = shortest; next;) {
    shortest = next;
    next = await firstThat(simpler(shortest), async (each) => (await ruleBroken(each, bug)) === kind); // prettier-ignore
  }
  return shortest;
}

/** The first rule that a run breaks: the text of a violation begins with it. */
export async function ruleBroken(schedule: Schedule, bug: Bug): Promise<string | undefined> {
  const { violations } = await simulate(schedule, { bug });
  return violations[0]?.split(':')[0];
}

function* simpler(schedule: Schedule): Generator<Schedule> {
  const { faults, actions } = schedule;
  for (let index = 0; index < faults.length; index++)
    yield { ...schedule, faults: faults.toSpliced(index, 1) };
  for (let index = 0; index < actions.length; index++)
    yield { ...schedule, actions: actions.toSpliced(index, 1) };
  for (const [index, action] of actions.entries())
    for (const each of simplerActions(action))
      yield { ...schedule, actions: actions.with(index, each) };
}

function* simplerActions(action: Action): Generator<Action> {
  if (action.keys.length > 1) yield { ...action, keys: action.keys.slice(0, 1) };
  if (action.permits !== undefined) yield { ...action, permits: undefined };
  if (action.cancelAfter !== undefined) yield { ...action, cancelAfter: undefined };
  if (action.steps > 1) yield { ...action, steps: action.steps - 1 };
}

async function firstThat<T>(
  items: Iterable<T>,
  is: (item: T) => Promise<boolean>,
): Promise<T | undefined> {
  for (const item of items) if (await is(item)) return item;
  return undefined;
}
