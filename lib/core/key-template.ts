import { LockKeyError } from './lock-errors.js';
import { show } from './option-values.js';

/** `:lower`, `:trim`, `:int`, applied in the order written. */
type KeyFilter = 'lower' | 'trim' | 'int';

interface Placeholder {
  /** What stands between `<` and `>`. */
  readonly source: string;
  readonly root: string;
  readonly path: readonly string[];
  readonly filters: readonly KeyFilter[];
  /** First character of the literal that separates this value from the next one: escaped inside the value. */
  separator: string | undefined;
}

/**
 * A key with placeholders: `order:<id>`, `stock:<order.sku:lower>:<0>`, `tenant:<request.headers.x-tenant>`.
 *
 * Values are percent-encoded, the separator that follows them included, so that two different lists of values never give
 * one key. Parsed once; a template that cannot be read is a `TypeError`.
 */
export class KeyTemplate {
  readonly #segments: readonly (string | Placeholder)[];

  constructor(readonly source: string) {
    this.#segments = parse(source);
  }

  /** What has to be found, by its first name. */
  get placeholders(): readonly Pick<Placeholder, 'root' | 'path'>[] {
    return this.#segments.filter((each) => typeof each !== 'string');
  }

  /** Throws `LockKeyError` for a value that does not identify anything. */
  render(valueOf: (root: string) => unknown): string {
    let key = '';
    for (const each of this.#segments) {
      key += typeof each === 'string' ? each : this.#fill(each, valueOf(each.root));
    }
    return key;
  }

  #fill(placeholder: Placeholder, root: unknown): string {
    let value = root;
    let reached = placeholder.root;
    for (const name of placeholder.path) {
      if (value === undefined || value === null) {
        throw this.#error(placeholder, `"${reached}" is ${value}`);
      }
      value = (value as Record<string, unknown>)[name];
      reached += `.${name}`;
    }
    return escape(this.#filtered(placeholder, value), placeholder.separator);
  }

  #filtered(placeholder: Placeholder, value: unknown): string {
    let text = identifierText(value);
    if (text === undefined) throw this.#error(placeholder, `got ${show(value)}`);
    for (const filter of placeholder.filters) {
      if (filter === 'lower') text = text.toLowerCase();
      else if (filter === 'trim') text = text.trim();
      else if (/^[+-]?\d+$/.test(text)) text = String(BigInt(text.replace('+', '')));
      else throw this.#error(placeholder, `:int expects a whole number, got ${show(value)}`);
    }
    if (text === '') throw this.#error(placeholder, `got ${show(value)}`);
    if (!text.isWellFormed()) {
      throw this.#error(placeholder, 'got a string with half of a surrogate pair');
    }
    return text;
  }

  #error(placeholder: Placeholder, problem: string): LockKeyError {
    return new LockKeyError(
      `Lock key "${this.source}": <${placeholder.source}> must be a non-empty string, a finite number, ` +
        `a bigint, a boolean or a valid Date; ${problem}`,
      this.source,
    );
  }
}

/** `undefined` for everything whose text would not tell it from others. */
function identifierText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return Number.isFinite(value) ? String(value) : undefined;
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value instanceof Date && !Number.isNaN(value.getTime())
        ? value.toISOString()
        : undefined;
  }
}

function escape(text: string, separator: string | undefined): string {
  const encoded = encodeURIComponent(text);
  if (separator === undefined || !encoded.includes(separator)) return encoded;
  const code = separator.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
  return encoded.replaceAll(separator, `%${code}`);
}

function parse(template: string): (string | Placeholder)[] {
  checkNotation(template);
  const segments: (string | Placeholder)[] = [];
  let end = 0;
  for (const match of template.matchAll(/<([^<>]*)>/g)) {
    if (match.index > end) segments.push(template.slice(end, match.index));
    segments.push(parsePlaceholder(match[1]!, template));
    end = match.index + match[0].length;
  }
  if (end < template.length) segments.push(template.slice(end));
  if (segments.length === 0) throw templateError(template, 'is empty');
  segments.forEach((each, index) => {
    if (typeof each === 'string') checkLiteral(each, template);
    else each.separator = separatorOf(segments, index, template);
  });
  return segments;
}

function checkNotation(template: string): void {
  const [found, name] = /\$\{\s*([\w.]*)/.exec(template) ?? [];
  if (found === undefined) return;
  const write = name ? `<${name}>` : '<id>';
  throw templateError(
    template,
    `contains "\${": a template is not a JavaScript template literal. Write ${write}`,
  );
}

function parsePlaceholder(source: string, template: string): Placeholder {
  const [dotted = '', ...filters] = source.split(':').map((part) => part.trim());
  const [root = '', ...path] = dotted.split('.');
  if (root === '' || path.includes('')) {
    throw templateError(template, `has a placeholder without a name: <${source}>`);
  }
  const unknown = filters.find((each) => !['lower', 'trim', 'int'].includes(each));
  if (unknown !== undefined) {
    throw templateError(
      template,
      `has an unknown filter ":${unknown}"; known: :lower, :trim, :int`,
    );
  }
  return { source, root, path, filters: filters as KeyFilter[], separator: undefined };
}

function checkLiteral(literal: string, template: string): void {
  if (/[<>]/.test(literal)) throw templateError(template, 'has a "<" or ">" without its partner');
}

/** Without a separator that values cannot contain, `1` + `23` and `12` + `3` would be one key. */
function separatorOf(
  segments: readonly (string | Placeholder)[],
  index: number,
  template: string,
): string | undefined {
  const next = segments[index + 1];
  const followsAnotherValue = typeof next === 'string' && index + 2 < segments.length;
  if (next === undefined || (typeof next === 'string' && !followsAnotherValue)) return undefined;
  if (typeof next === 'string' && !/^[A-Za-z0-9%]/.test(next)) return next[0];
  throw templateError(
    template,
    'needs a separator between two placeholders that starts with neither a letter, a digit nor "%", such as ":"',
  );
}

function templateError(template: string, problem: string): TypeError {
  return new TypeError(`Lock key template "${template}" ${problem}`);
}
