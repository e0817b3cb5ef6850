import { types } from 'node:util';
import { seeded } from '../../support/histories/history-random.js';
import { OwnError, SECRET, hostileValue } from './hostile-values.js';
import { optionTakers } from './option-takers.js';

/** Milliseconds. Nothing here waits for anything. */
const HANG = 30_000;
const LONGEST_MESSAGE = 2_000;

/** A text for each rule that a taker broke, with the seed that repeats it. */
export async function fuzzOptions(runs: number, seed: number): Promise<string[]> {
  const takers = Object.entries(optionTakers());
  const names = new Map<string, readonly string[]>();
  for (const [name, take] of takers) names.set(name, await optionNames(take));
  const found: string[] = [];
  for (let each = seed; each < seed + runs; each++) {
    const random = seeded(each);
    const [name, take] = takers[Math.floor(random() * takers.length)]!;
    const problem = await problemOf(take, hostileOptions(names.get(name)!, random));
    if (problem !== undefined) found.push(`seed ${each}, ${name}: ${problem}`);
  }
  return found;
}

/** A hostile value in place of the options, or of some of them. */
function hostileOptions(known: readonly string[], random: () => number): unknown {
  if (random() < 0.2 || known.length === 0) return hostileValue(random);
  const names = Array.from({ length: 1 + Math.floor(random() * 3) }, () => known[Math.floor(random() * known.length)]!); // prettier-ignore
  if (random() < 0.05) names.push(hostileText(random));
  return Object.fromEntries(names.map((name) => [name, hostileValue(random)]));
}

function hostileText(random: () => number): string {
  return ['__proto__', 'constructor', '', `redis://user:${SECRET}@host`, 'x'.repeat(100_000), 'tlt'][Math.floor(random() * 6)]!; // prettier-ignore
}

/** As the error of an unknown option tells them. */
async function optionNames(take: (options: unknown) => unknown): Promise<readonly string[]> {
  const error = await errorOf(() => take({ zzzzz: 1 }));
  const [, known] = /known options are (.*)$/.exec(String((error as Error | undefined)?.message)) ?? []; // prettier-ignore
  return known?.split(', ') ?? ['ttl', 'store', 'hosts', 'credentials', 'postgres', 'sqlite'];
}

async function problemOf(
  take: (options: unknown) => unknown,
  options: unknown,
): Promise<string | undefined> {
  const error = await errorOf(() => take(options));
  if (error === undefined || error instanceof OwnError) return undefined;
  if (!types.isNativeError(error)) return `threw ${typeof error}`;
  const { message, code } = error as Error & { code?: unknown };
  if (typeof code !== 'string' || !/^[A-Z_]+$/.test(code)) return `no code: ${String(error.stack).slice(0, 600)}`; // prettier-ignore
  if (message.includes(SECRET)) return `a secret: ${message}`;
  if (message.length > LONGEST_MESSAGE) return `a message of ${message.length} characters`;
  return undefined;
}

/** Of a call that throws or rejects, or does not end. */
async function errorOf(call: () => unknown): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<Error>((resolve) => {
    timer = setTimeout(() => resolve(new Error('a hang')), HANG);
  });
  try {
    return await Promise.race([hang, Promise.resolve(call()).then(() => undefined)]);
  } catch (error) {
    return error;
  } finally {
    clearTimeout(timer);
  }
}
