import type { LockInspection } from '../../core/lock-store.js';
import { permitsFrom } from './held.js';

/** What INSPECT answers. Some clients make strings of numbers. */
type Inspected = [
  value: string,
  pttl: number | string,
  counter: string | null | undefined,
  sharers: readonly string[] | undefined,
];

/** The lock while several share it: `*<permits>`. */
const SHARED = /^\*(\w+)$/;
/** One who shares it, to whom it was handed over. */
const SHARER = /^~?[\w-]+\*(\w+)\./;

/** Reads the answer of INSPECT for `key`. */
export function asInspection(key: string, reply: unknown): LockInspection | undefined {
  if (!reply) return undefined;
  const [value, pttl, counter, sharers = [value]] = reply as Inspected;
  const remaining = Number(pttl) < 0 ? Infinity : Number(pttl);
  const permits = (SHARED.exec(value) ?? SHARER.exec(value))?.[1];
  if (permits !== undefined) {
    const holders = sharers.map(holderOf);
    return {
      key,
      holder: holders[0] || undefined,
      permits: permitsFrom(permits),
      holders,
      remaining,
    };
  }
  const [fence, lastValue] = splitAt(splitAt(counter ?? '', '\n')[0], ' ');
  const isLast = `${lastValue} `.startsWith(`${value} `);
  return {
    key,
    holder: holderOf(value) || undefined,
    remaining,
    fencingToken: isLast ? BigInt(fence) : undefined,
  };
}

function holderOf(value: string): string {
  return splitAt(value, ':')[1];
}

function splitAt(text: string, separator: string): [before: string, after: string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
