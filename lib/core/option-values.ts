import { redact } from './contract/redaction.js';
import { echo, quoted } from './printable.js';

/** Node's timers reach no further: 24.8 days. */
const LONGEST = 2_147_483_647;
/** Characters of a value that are looked at for secrets before the first of them are shown. */
const LONGEST_READ = 1_000;
/** Below this, two milliseconds of drift are a large part of the ttl. */
const SHORTEST_TTL = 10;

interface Range {
  readonly from: number;
  readonly unit: string;
  readonly infinite?: boolean;
}

const RANGES: Readonly<Record<string, Range>> = {
  ttl: { from: SHORTEST_TTL, unit: 'ms' },
  waitTimeout: { from: 0, unit: 'ms', infinite: true },
  retryDelay: { from: 0, unit: 'ms' },
  retryJitter: { from: 0, unit: 'ms' },
  retryCount: { from: 0, unit: 'attempts', infinite: true },
  maxHold: { from: SHORTEST_TTL, unit: 'ms', infinite: true },
  minHold: { from: 0, unit: 'ms' },
  storeTimeout: { from: 1, unit: 'ms' },
  permits: { from: 1, unit: 'permits' },
};

const BOOLEANS = ['autoExtend', 'reentrant'];

/** Throws `TypeError` or `RangeError` for what an option of a lock cannot be. */
export function checkOption(name: string, value: unknown): void {
  const range = RANGES[name];
  if (range) return checkRange(name, value, range);
  if (BOOLEANS.includes(name) && typeof value !== 'boolean') {
    throw new TypeError(`${name} must be a boolean, got ${show(value)}`);
  }
  if (name === 'mode' && value !== 'read' && value !== 'write') {
    throw new TypeError(`mode must be 'read' or 'write', got ${show(value)}`);
  }
  if (name === 'signal' && !(value instanceof AbortSignal)) {
    throw new TypeError(`signal must be an AbortSignal, got ${show(value)}`);
  }
}

function checkRange(name: string, value: unknown, range: Range): void {
  if (isWithin(range, value)) return;
  const { from, unit, infinite } = range;
  const expected = `a whole number of ${unit} from ${from} to ${LONGEST}${infinite ? ', or Infinity' : ''}`;
  const message = `${name} must be ${expected}, got ${show(value)}`;
  throw typeof value === 'number' ? new RangeError(message) : new TypeError(message);
}

function isWithin({ from, infinite }: Range, value: unknown): boolean {
  if (value === Infinity) return infinite === true;
  return Number.isInteger(value) && (value as number) >= from && (value as number) <= LONGEST;
}

/** `example` says how options are written: `{ ttl: 30_000 }`. */
export function checkIsObject(what: string, options: unknown, example: string): void {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return;
  throw new TypeError(`${what} must be an object, such as ${example}, got ${show(options)}`);
}

/** For what has a name that is the same for everybody, and no key. */
export function checkName(what: string, name: unknown): void {
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(
      `the name of ${what} must be a string that is not empty, got ${show(name)}`,
    );
  }
  if (/<[^<>]+>/.test(name)) {
    throw new TypeError(`the name of ${what} has no placeholders, got ${quoted(name)}`);
  }
}

/** How a bad value is named in an error message. Nothing of an object is read: a request may have sent it. */
export function show(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `the string ${quoted(redact(value.slice(0, LONGEST_READ)))}`;
    case 'bigint':
      return `${echo(String(value))}n`;
    case 'symbol':
      return echo(String(value));
    case 'function':
      return nameOf(value) === '' ? 'a function' : `a function (${nameOf(value)})`;
    case 'object':
      if (value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  }
  return String(value);
}

function nameOf({ name }: Function): string {
  return typeof name === 'string' ? echo(name) : '';
}

export function checkWork(caller: string, work: unknown): void {
  if (typeof work === 'function') return;
  throw new TypeError(`${caller} expects a function as its last argument, got ${show(work)}`);
}
