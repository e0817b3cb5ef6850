import { inspect } from 'node:util';

/** Prints a value in every way in which a logger might, on both streams. */
export function print(what: string, value: unknown): void {
  console.log(`[${what}] %s`, inspect(value, DEEPLY));
  console.error(`[${what}]`, value);
  console.log(`[${what}] ${String(value)} ${jsonOf(value)}`);
  if (value instanceof Error) console.log(value.stack);
}

const DEEPLY = {
  depth: Infinity,
  showHidden: true,
  getters: true,
  maxArrayLength: Infinity,
  maxStringLength: Infinity,
} as const;

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, each: unknown) =>
      typeof each === 'bigint' ? `${each}n` : each,
    );
  } catch (error) {
    return String(error);
  }
}
