import { optionError } from '../core/options/option-error.js';
import { KeyTemplate } from '../core/keys/key-template.js';
import { withLabel } from '../core/text/with-label.js';
import type { LockKeys } from '../core/keys/lock-keys.js';
import { refuseBraces } from '../core/keys/brace-notation.js';
import { show } from '../core/options/option-values.js';
import type { ExpressRequest } from './express-types.js';

/** One that asks for a particular kind of request is accepted, too: Express gives it. */
type KeyFunction = { of(request: ExpressRequest): LockKeys }['of'];

/** A template over the properties of a request, several of them (all or nothing), or a function of the request. */
export type RequestKey = string | readonly string[] | KeyFunction;

/** Throws `TypeError`, which begins with `owner`. */
export function requestKey(owner: string, key: RequestKey): (request: ExpressRequest) => LockKeys {
  if (typeof key === 'function') return key;
  if (typeof key === 'string') return templateOf(owner, key);
  if (!Array.isArray(key) || key.length === 0 || !key.every((each) => typeof each === 'string')) {
    throw optionError(
      `${owner}: the key must be a template, a list of them, or a function, got ${show(key)}`,
    );
  }
  const keys = (key as readonly string[]).map((each) => templateOf(owner, each));
  return (request) => keys.map((keyOf) => keyOf(request));
}

function templateOf(owner: string, source: string): (request: unknown) => string {
  const template = withLabel(owner, () => new KeyTemplate(source));
  refuseBraces(owner, source, /^(params|query|body|headers)\./);
  return (request) => template.render((root) => (request as Record<string, unknown>)[root]);
}
