import type { Clock } from '../async/clock.js';
import { unknownOption } from './option-names.js';
import { checkIsObject, show } from './option-values.js';
import { optionError } from './option-error.js';

/** Throws `TypeError` or `RangeError` for what the option called `name` cannot be. */
export interface OptionRule {
  (name: string, value: unknown): void;
  /** Whether it also checks an option that is missing. */
  readonly isNeeded?: boolean;
}

/** One rule for each option: an option without one does not compile. */
export type OptionRules<Options extends object> = {
  readonly [Name in keyof Options]-?: OptionRule;
};

/** Node's timers reach no further: 24.8 days. */
const LONGEST = 2_147_483_647;

/**
 * Throws `TypeError` or `RangeError`, with a `code`, for anything but an object, for an unknown option and for a wrong value.
 * `undefined` is a missing option. `owner` names the receiver of the options in messages, `example` shows how they are
 * written.
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: unknown,
  rules: OptionRules<Options>,
  example: string,
): asserts options is Options {
  checkIsObject(`${owner}: the options`, options, example);
  checkEach(owner, ': ', options as object, rules);
}

function checkEach(
  owner: string,
  separator: ': ' | '.',
  options: object,
  rules: Readonly<Record<string, OptionRule>>,
): void {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(rules, name)) throw unknownOption(name, Object.keys(rules), owner);
    if (value !== undefined) rules[name]!(`${owner}${separator}${name}`, value);
  }
  for (const [name, rule] of Object.entries(rules)) {
    if (rule.isNeeded && !has(options, name)) rule(`${owner}${separator}${name}`, undefined);
  }
  checkNoneIsInherited(`${owner}${separator}`, options, rules);
}

/**
 * Options are passed on as copies, which would lack members of their class: a getter, say. Throws `TypeError` instead of
 * ignoring them.
 */
export function checkNoneIsInherited(prefix: string, options: object, rules: object): void {
  for (const name of Object.keys(rules)) {
    if (Object.prototype.propertyIsEnumerable.call(options, name) || !has(options, name)) continue;
    throw optionError(`${prefix}${name} must be a property of the object, got one of its class`);
  }
}

function has(options: object, name: string): boolean {
  return (options as Readonly<Record<string, unknown>>)[name] !== undefined;
}

/** As `rule`, for an option that may not be missing. */
export function needed(rule: OptionRule): OptionRule {
  return Object.assign((name: string, value: unknown) => rule(name, value), { isNeeded: true });
}

/** `expected` is what stands behind "must be". */
export function a(expected: string, isFine: (value: unknown) => boolean): OptionRule {
  return (name, value) => {
    if (!suits(value, isFine)) throw optionError(`${name} must be ${expected}, got ${show(value)}`);
  };
}

/** As `a`, for numbers: another number is out of range. */
export function aNumber(expected: string, isFine: (value: unknown) => boolean): OptionRule {
  return (name, value) => {
    if (suits(value, isFine)) return;
    const kind = typeof value === 'number' ? RangeError : TypeError;
    throw optionError(`${name} must be ${expected}, got ${show(value)}`, kind);
  };
}

/** For options that are checked where they are used. */
export const anything: OptionRule = () => undefined;
export const aBoolean = a('a boolean', (value) => typeof value === 'boolean');
export const aString = a('a string', (value) => typeof value === 'string');
export const aName = a('a string that is not empty', isName);
export const aFunction = a('a function', (value) => typeof value === 'function');
export const anAbortSignal = a('an AbortSignal', (value) => value instanceof AbortSignal);
export const aClock = a('a Clock, with now() and schedule()', isClock);

/** `orInfinity`: that is a value of its own. */
export interface Bounds {
  readonly from: number;
  /** @default the longest time of a timer */
  readonly to?: number;
  readonly orInfinity?: boolean;
}

/** A whole number. `unit` is `ms`, say, or nothing. */
export function aWhole(
  unit: string,
  { from, to = LONGEST, orInfinity = false }: Bounds,
): OptionRule {
  const number = unit === '' ? 'a whole number' : `a whole number of ${unit}`;
  const range = to === Infinity ? `of at least ${from}` : `from ${from} to ${to}`;
  return aNumber(`${number} ${range}${orInfinity ? ', or Infinity' : ''}`, (value) => {
    if (value === Infinity) return orInfinity;
    return Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= to;
  });
}

/** One of several texts and truth values. */
export function oneOf(...choices: readonly (string | boolean)[]): OptionRule {
  const words = choices.map((each) => (typeof each === 'string' ? `'${each}'` : String(each)));
  const last = words.pop()!;
  const expected = words.length === 0 ? last : `${words.join(', ')} or ${last}`;
  return a(expected, (value) => choices.includes(value as string));
}

/**
 * An object that has options itself. Messages name them by their path: `http.busyStatus`. They do not repeat a text given in its
 * place, which may be a secret: `auth: 'user:password'`.
 */
export function aBag<Options extends object>(
  rules: OptionRules<Options>,
  example: string,
): OptionRule {
  return (name, value) => {
    if (typeof value === 'string') {
      throw optionError(`${name} must be an object, such as ${example}, got a string`);
    }
    checkIsObject(name, value, example);
    checkEach(name, '.', value as object, rules);
  };
}

/** As `rule`, without the value in the message: it may be a secret. */
export function secretly(expected: string, isFine: (value: unknown) => boolean): OptionRule {
  return (name, value) => {
    if (suits(value, isFine)) return;
    throw optionError(
      `${name} must be ${expected}, got ${value === undefined ? 'none' : `a ${typeof value}`}`,
    );
  };
}

/** A password, say. */
export const aSecret = secretly('a string', (value) => typeof value === 'string');

/** A value that throws when it is read does not. */
function suits(value: unknown, isFine: (value: unknown) => boolean): boolean {
  try {
    return isFine(value);
  } catch {
    return false;
  }
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isClock(value: unknown): boolean {
  const { now, schedule } = (value ?? {}) as Partial<Clock>;
  return typeof now === 'function' && typeof schedule === 'function';
}
