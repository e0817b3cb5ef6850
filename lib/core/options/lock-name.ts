import { a } from './option-rules.js';

/** In UTF-16 code units. */
const LONGEST_NAME = 200;

/** A label for metrics and logs. */
export const aLockName = a(
  `a string of 1 to ${LONGEST_NAME} characters`,
  (value) => typeof value === 'string' && value !== '' && value.length <= LONGEST_NAME,
);

/** `options` with the text of the templates as the name, if they have none. */
export function named<Options extends object>(
  options: Options & { readonly name?: string | undefined },
  source: unknown,
): Options & { readonly name?: string | undefined } {
  const name = options.name ?? nameOfTemplates(source);
  return name === undefined ? options : { ...options, name };
}

/** `undefined` for a key that a function makes. */
function nameOfTemplates(source: unknown): string | undefined {
  const text = Array.isArray(source) ? source.join(', ') : source;
  if (typeof text !== 'string' || text === '') return undefined;
  return text.slice(0, LONGEST_NAME).toWellFormed();
}
