import { types } from 'node:util';
import { redact } from '../text/redaction.js';

/** Fields of drivers' errors that describe the failure, and nothing of the command. */
const KEPT: ReadonlySet<string> = new Set([
  'code',
  'errno',
  'errcode',
  'syscall',
  'address',
  'port',
  'path',
  'hostname',
  'severity',
  'sqlState',
  'fatal',
]);
/** Of every error. The last two are errors themselves, or lists of errors. */
const OF_EVERY_ERROR: ReadonlySet<string | symbol> = new Set(['name', 'message', 'stack', 'cause', 'errors']); // prettier-ignore
/** Depth to which nested errors are copied. */
const DEEPEST = 5;

/**
 * A printable copy of a driver's error: name, message, stack and codes. Other fields, such as the command, are left out, and
 * credentials in the text are hidden. An error without other fields stays the same object.
 */
export function withoutSecrets(error: unknown): unknown {
  return safe(error, DEEPEST);
}

/** For messages. A thrown value need not be an `Error`, and an `AggregateError` need not have a message. */
export function reasonOf(error: unknown): string {
  const { message, errors, code, name } = fieldsOf(error);
  if (typeof message === 'string' && message !== '') return redact(message);
  if (typeof error !== 'object' || error === null) return redact(String(error));
  if (Array.isArray(errors) && errors.length > 0) return errors.map(reasonOf).join(', ');
  return textOf(code, textOf(name, 'unknown'));
}

function safe(error: unknown, depth: number): unknown {
  if (typeof error === 'string') return redact(error);
  if (Array.isArray(error)) return error.map((each) => safe(each, depth));
  if (typeof error !== 'object' || error === null) return error;
  if (depth === 0) return undefined;
  return isSafe(error, depth) ? error : rebuilt(error, depth);
}

function isSafe(error: object, depth: number): boolean {
  if (!types.isNativeError(error) || redact(error.stack ?? '') !== error.stack) return false;
  return Reflect.ownKeys(error).every((name) => {
    if (name === 'stack') return true;
    const property = Object.getOwnPropertyDescriptor(error, name)!;
    if (!('value' in property)) return false;
    const value: unknown = property.value;
    if (name === 'cause') return safe(value, depth - 1) === value;
    if (name === 'errors') return Array.isArray(value) && value.every((each) => safe(each, depth - 1) === each); // prettier-ignore
    return isKept(name) && isPlain(value) && plain(value) === value;
  });
}

/** With the stack of the driver. */
function rebuilt(error: object, depth: number): Error {
  const given = fieldsOf(error);
  const { cause, errors } = given;
  const made = new Error(textOf(given['message'], 'unknown'));
  hide(made, 'name', textOf(given['name'], 'Error'));
  hide(made, 'stack', textOf(given['stack'], `${made.name}: ${made.message}`));
  if (cause !== undefined) hide(made, 'cause', safe(cause, depth - 1));
  if (Array.isArray(errors)) hide(made, 'errors', safe(errors, depth - 1));
  for (const field of KEPT) {
    if (isPlain(given[field])) Object.assign(made, { [field]: plain(given[field]) });
  }
  return made;
}

/** A thrown value need not be an `Error`. */
function fieldsOf(error: unknown): Readonly<Record<string, unknown>> {
  return (error ?? {}) as Readonly<Record<string, unknown>>;
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? redact(value) : otherwise;
}

function isKept(name: string | symbol): boolean {
  return OF_EVERY_ERROR.has(name) || KEPT.has(name as string);
}

function isPlain(value: unknown): boolean {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
}

function plain(value: unknown): unknown {
  return typeof value === 'string' ? redact(value) : value;
}

/** As Node does with these fields: they are there, and printed once. */
function hide(error: Error, name: string, value: unknown): void {
  Object.defineProperty(error, name, { value, configurable: true, writable: true });
}
