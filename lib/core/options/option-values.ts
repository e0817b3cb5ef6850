import { isList } from '../contract/fields.js';
import { redact } from '../text/redaction.js';
import { optionError } from './option-error.js';
import { echo, quoted } from '../text/printable.js';

/** Characters of a value that are searched for secrets before the first of them are shown. */
const LONGEST_READ = 1_000;

/** `example` shows how options are written: `{ ttl: 30_000 }`. */
export function checkIsObject(what: string, options: unknown, example: string): void {
  if (typeof options === 'object' && options !== null && isList(options) === false) return;
  throw optionError(`${what} must be an object, such as ${example}, got ${show(options)}`);
}

/** For a name that all callers share, unlike a key. */
export function checkName(what: string, name: unknown): void {
  if (typeof name !== 'string' || name === '') {
    throw optionError(`the name of ${what} must be a string that is not empty, got ${show(name)}`);
  }
  if (/<[^<>]+>/.test(name)) {
    throw optionError(`the name of ${what} has no placeholders, got ${quoted(name)}`);
  }
}

/** Of an object, by `isList`. */
const SHAPES = new Map([
  [true, 'an array'],
  [false, 'an object'],
  [undefined, 'a proxy that was revoked'],
]);

/** The form of a bad value in an error message. Nothing of an object is read: it may come from a request. */
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
      if (value !== null) return SHAPES.get(isList(value))!;
  }
  return String(value);
}

/** Empty where it has none, or throws instead. */
function nameOf(value: Function): string {
  try {
    const { name } = value;
    return typeof name === 'string' ? echo(name) : '';
  } catch {
    return '';
  }
}

export function checkWork(caller: string, work: unknown): void {
  if (typeof work === 'function') return;
  throw optionError(`${caller} expects a function as its last argument, got ${show(work)}`);
}
