import { OTHER } from './label-values.js';

/** `error.type` of an error: its code or its name, of which there are few. Never its message, which may name a key. */
export function errorType(error: unknown): string {
  if (typeof error !== 'object' || error === null) return OTHER;
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return [code, name].find(isWord) ?? OTHER;
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^\w{1,60}$/.test(value);
}
