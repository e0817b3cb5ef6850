import { ChildProcess } from '../../support/processes/child-process.js';
import type { Scenarios } from './secrets.worker.js';

/** Stands in every password, DSN and key that a worker is given. */
export const SECRET = 'hunter2Secret';

type Told = { readonly held?: string; readonly done?: true };

/** Plays scenarios in a process of their own; those that hold locks are broken by `breaks`. Resolves with all that it printed. */
export async function play(
  scenarios: Scenarios,
  breaks: Readonly<Record<string, () => Promise<unknown>>> = {},
): Promise<string> {
  const args = [JSON.stringify(scenarios)];
  await using worker = new ChildProcess<{ go: string }, Told>(
    'test/secrets/support/secrets.worker.ts',
    { args },
  );
  const broken = Object.entries(breaks).map(async ([name, breakIt]) => {
    await worker.received(({ held }) => held === name, { within: 60_000 });
    await breakIt();
    worker.send({ go: name });
  });
  await Promise.all(broken);
  await worker.received(({ done }) => done === true, { within: 120_000 });
  await worker.kill();
  return `${worker.output}\n${JSON.stringify(worker.messages)}`;
}

/** Where the secret stands, with what is around it. */
export function leaks(output: string): string[] {
  return [...output.matchAll(new RegExp(`.{0,200}${SECRET}.{0,60}`, 'g'))].map(([found]) => found);
}

/** The lines of one scenario. */
export function linesOf(output: string, name: string): string {
  return output
    .split('\n')
    .filter((line) => line.includes(`[${name} `))
    .join('\n');
}

/** Each fails all the while, and says so in the words of its pattern, or too late for them on a busy machine. */
export type Failing = Readonly<Record<string, readonly [Scenarios[string], RegExp]>>;

const TOO_LATE = /no answer within [\d_]{4,}|DEADLINE_EXCEEDED|timeout exceeded|connection timeout/;

/** Plays them together, and looks for the secret in all that was printed. */
export async function expectNoLeaks(failing: Failing): Promise<void> {
  const scenarios = Object.entries(failing).map(([name, [scenario]]) => [name, scenario] as const);
  const output = await play(Object.fromEntries(scenarios));
  expect(leaks(output)).toEqual([]);
  for (const [name, [, said]] of Object.entries(failing)) {
    const lines = linesOf(output, name);
    if (!TOO_LATE.test(lines)) expect(lines).toMatch(said);
  }
}
