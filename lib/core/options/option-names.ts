import { redact } from '../text/redaction.js';
import { optionError } from './option-error.js';
import { quoted } from '../text/printable.js';

/** Options of other libraries, in small letters, and what to write here. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  timeout: 'waitTimeout for the caller, ttl for the store',
  duration: 'ttl',
  expire: 'ttl',
  expiration: 'ttl',
  expiry: 'ttl',
  ttl: 'ttl',
  leasetime: 'ttl',
  locktimeout: 'ttl',
  lockttl: 'ttl',
  lockatmostfor: 'ttl',
  lockatleastfor: 'minHold',
  acquiretimeout: 'waitTimeout',
  waittime: 'waitTimeout',
  maxwait: 'waitTimeout',
  retries: 'retryCount, or waitTimeout',
  acquireattemptslimit: 'retryCount, or waitTimeout',
  retryinterval: 'retryDelay',
  refreshinterval: 'autoExtend: a lock extends itself at a third of its ttl',
  automaticextensionthreshold: 'autoExtend: a lock extends itself at a third of its ttl',
  driftfactor: 'no option: the validity allows for the drift of clocks',
};

/** Without a label, the option came with a call of `LockService`. */
export function unknownOption(name: string, known: readonly string[], label?: string): TypeError {
  const who = label === undefined ? 'unknown lock option' : `${label}: unknown option`;
  return optionError(
    `${who} ${quoted(redact(name))}${hintAt(name, known)}; known options are ${known.join(', ')}`,
  );
}

function hintAt(name: string, known: readonly string[]): string {
  const here = ofOthers(name, known);
  if (here !== undefined) return ` (here: ${here})`;
  const meant = nearest(name, known);
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}

/** For the options of a lock. */
function ofOthers(name: string, known: readonly string[]): string | undefined {
  const small = name.toLowerCase();
  return known.includes('waitTimeout') && Object.hasOwn(OF_OTHERS, small)
    ? OF_OTHERS[small]
    : undefined;
}

/** Edits of a name that was misspelt. */
const MOST_SLIPS = 2;

/** A name at most two edits away, if that is less than half of it. Names of quite another length are not compared. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const [first] = known
    .filter((meant) => Math.abs(meant.length - name.length) <= MOST_SLIPS)
    .map((meant) => ({ meant, slips: slipsBetween(name, meant) }))
    .filter(({ slips }) => slips <= MOST_SLIPS && slips * 2 < name.length)
    .toSorted((a, b) => a.slips - b.slips);
  return first?.meant;
}

/** Characters to add, to leave out or to change: the distance of Levenshtein (1966). */
function slipsBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const change = above[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(change, above[column]! + 1, current[column - 1]! + 1));
    }
    above = current;
  }
  return above[b.length]!;
}
