import * as fc from 'fast-check';
import { LockKeyError } from '../../../lib/core/contract/lock-errors.js';
import { KeyTemplate } from '../../../lib/core/keys/key-template.js';
import { seeded } from '../../support/histories/history-random.js';
import { hostileValue } from '../options/hostile-values.js';

/** A hostile value that is made when it is used: the generators would read it. */
class Hostile {
  constructor(readonly seed: number) {}
}

function madeOf(value: unknown): unknown {
  return value instanceof Hostile ? hostileValue(seeded(value.seed)) : value;
}

/** Parts of templates, as users write and mistype them. */
const PARTS = ['order', ':', '<id>', '<0>', '<>', '<', '>', '<a.b>', '<id:lower>', '<id:trim>', '<id:x>', '${id}', '{0}', '%', '%3A', '/', '-', ' ', 'é', '😀', '\ud800', '\u0000', '<a..b>', '<__proto__>', '<constructor.name>', '']; // prettier-ignore

const anyTemplate = fc.array(fc.oneof(fc.constantFrom(...PARTS), fc.string({ maxLength: 3 })), { maxLength: 7 }).map((parts) => parts.join('')); // prettier-ignore

/** Texts that look like parts of a key, and values that are none. */
const anyValue = fc.oneof(
  { weight: 5, arbitrary: fc.array(fc.constantFrom(...PARTS, '1', '2', 'a', 'A', 'b'), { maxLength: 4 }).map((parts) => parts.join('')) }, // prettier-ignore
  { weight: 2, arbitrary: fc.oneof(fc.integer(), fc.double(), fc.bigInt(), fc.boolean(), fc.date({ noInvalidDate: false })) }, // prettier-ignore
  { weight: 1, arbitrary: fc.nat().map((seed) => new Hostile(seed)) },
);

const FILTERS = /:\s*\w+\s*>/;

/** The counterexample, shrunk, where one is found: as a text, with the seed that repeats it. */
export function fuzzKeyTemplates(runs: number, seed: number): readonly string[] {
  const values = fc.array(anyValue, { minLength: 4, maxLength: 4 });
  const property = fc.property(anyTemplate, values, values, (source, one, other) => {
    const problem = problemOf(
      source,
      one.map((each) => madeOf(each)),
      other.map((each) => madeOf(each)),
    );
    if (problem !== undefined) throw new Error(problem);
  });
  const { failed, counterexample, errorInstance } = fc.check(property, { numRuns: runs, seed });
  if (!failed) return [];
  return [`seed ${seed}: ${String(errorInstance)}: ${fc.stringify(counterexample)}`];
}

/** The faults of the keys of two lists of values by one template. */
function problemOf(
  source: string,
  one: readonly unknown[],
  other: readonly unknown[],
): string | undefined {
  // prettier-ignore
  const parsed = outcomeOf(() => new KeyTemplate(source));
  if (parsed.error) return codeProblem(parsed.error, 'TypeError');
  const keys = [one, other].map((values) => outcomeOf(() => rendered(parsed.made!, values)));
  for (const { error, made } of keys) {
    const problem = error ? codeProblem(error, LockKeyError.name) : shapeProblem(source, made!);
    if (problem !== undefined) return problem;
  }
  const [first, second] = keys.map(({ made }) => made);
  if (first === undefined || first !== second || FILTERS.test(source)) return undefined;
  const texts = [one, other].map((values) => textsOf(parsed.made!, values));
  return texts[0] === texts[1] ? undefined : `one key for two lists: ${first}`;
}

function rendered(template: KeyTemplate, values: readonly unknown[]): string {
  return template.render(placeOf(template, values));
}

/** The values in the order of their first names. A name has one value. */
function placeOf(template: KeyTemplate, values: readonly unknown[]): (root: string) => unknown {
  const roots = [...new Set(template.placeholders.map(({ root }) => root))];
  return (root) => values[roots.indexOf(root) % values.length];
}

/** The identity of a list of values: the text of each. */
function textsOf(template: KeyTemplate, values: readonly unknown[]): string {
  const valueOf = placeOf(template, values);
  const texts = template.placeholders.map(({ root, path }) => {
    const reached = path.reduce((each, name) => (each as Record<string, unknown>)[name], valueOf(root)); // prettier-ignore
    return reached instanceof Date ? reached.toISOString() : String(reached);
  });
  return JSON.stringify(texts);
}

/** The key begins and ends as its template does, and has the same number of parts. */
function shapeProblem(source: string, key: string): string | undefined {
  const texts = source.split(/<[^<>]*>/);
  if (!key.startsWith(texts[0]!)) return `a key outside its prefix: ${key}`;
  if (!key.endsWith(texts.at(-1)!)) return `a key without its end: ${key}`;
  const colons = (text: string) => text.split(':').length;
  if (colons(key) !== colons(texts.join(''))) return `a value brings a part in: ${key}`;
  return undefined;
}

function codeProblem(error: Error & { code?: unknown }, name: string): string | undefined {
  const isDocumented = error.name === name && typeof error.code === 'string';
  return isDocumented ? undefined : `not documented: ${String(error.stack)}`;
}

function outcomeOf<T>(make: () => T): { readonly made?: T; readonly error?: Error } {
  try {
    return { made: make() };
  } catch (error) {
    return { error: error as Error };
  }
}
