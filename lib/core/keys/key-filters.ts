/** Makes one spelling of several. `undefined`: the filter does not know the text. */
interface KeyFilter {
  readonly name: string;
  /** For messages about a refused text. */
  readonly expects: string;
  readonly apply: (text: string) => string | undefined;
}

const FILTERS: readonly KeyFilter[] = [
  { name: 'lower', expects: 'text', apply: (text) => text.toLowerCase() },
  { name: 'trim', expects: 'text', apply: (text) => text.trim() },
  { name: 'nfc', expects: 'text', apply: (text) => text.normalize('NFC') },
  { name: 'int', expects: 'a whole number', apply: int },
  { name: 'uuid', expects: 'a UUID', apply: uuid },
];

/** Filters of one placeholder, in the order in which they are applied. */
export type KeyFilters = readonly KeyFilter[];

export function filterOf(name: string): KeyFilter | undefined {
  return FILTERS.find((each) => each.name === name);
}

/** For messages: `:lower, :trim, …`. */
export const FILTER_NAMES = FILTERS.map(({ name }) => `:${name}`).join(', ');

function int(text: string): string | undefined {
  return /^[+-]?\d+$/.test(text) ? String(BigInt(text.replace('+', ''))) : undefined;
}

/**
 * Accepts what databases read as a UUID: in either case, with or without braces, and a hyphen or none between any four digits.
 */
function uuid(text: string): string | undefined {
  const [, braced, bare] = /^(?:\{(.+)\}|(.+))$/s.exec(text) ?? [];
  const spelt = braced ?? bare ?? '';
  if (!/^[\da-f]{4}(?:-?[\da-f]{4}){7}$/i.test(spelt)) return undefined;
  const digits = spelt.replaceAll('-', '').toLowerCase();
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
