import { optionError } from '../options/option-error.js';
import { FILTER_NAMES, filterOf } from './key-filters.js';
import type { KeyFilters } from './key-filters.js';
import { KeyText, keyValue, keyValueError } from './key-text.js';
import type { KeyValueSource } from './key-text.js';

interface Placeholder extends KeyValueSource {
  readonly root: string;
  readonly path: readonly string[];
  readonly filters: KeyFilters;
}

/**
 * A key with placeholders: `order:<id>`, `stock:<order.sku:lower>:<0>`, `tenant:<request.headers.x-tenant>`.
 *
 * Values are escaped where two lists of them would otherwise give one key, as `KeyText` says. Parsed once; a template that
 * cannot be read is a `TypeError`.
 */
export class KeyTemplate {
  /** The placeholders to fill, by their first name. */
  readonly placeholders: readonly Pick<Placeholder, 'root' | 'path'>[];
  readonly #placeholders: readonly Placeholder[];
  readonly #text: KeyText;

  constructor(readonly source: string) {
    checkNotation(source);
    // In a text split by its placeholders, every second part is the content of one.
    const parts = source.split(/<([^<>]*)>/);
    const texts = parts.filter((_, index) => index % 2 === 0);
    texts.forEach((each) => checkLiteral(each, source));
    this.#placeholders = parts
      .filter((_, index) => index % 2 === 1)
      .map((each) => parsePlaceholder(each, source));
    this.placeholders = this.#placeholders;
    this.#text = new KeyText(texts, (problem) => templateError(source, problem));
  }

  /** Throws `LockKeyError` for a value that does not identify anything. */
  render(valueOf: (root: string) => unknown): string {
    return this.#text.fill(
      this.#placeholders.map((each) =>
        keyValue(reach(each, valueOf(each.root)), each.filters, each),
      ),
    );
  }
}

function reach(placeholder: Placeholder, root: unknown): unknown {
  let value = root;
  let reached = placeholder.root;
  for (const name of placeholder.path) {
    if (value === undefined || value === null) {
      throw keyValueError(placeholder, `"${reached}" is ${value}`);
    }
    reached += `.${name}`;
    value = read(placeholder, reached, value as Record<string, unknown>, name);
  }
  return value;
}

/** Throws `LockKeyError` where a getter or a proxy throws: that is its cause. */
function read(source: Placeholder, reached: string, from: Record<string, unknown>, name: string) {
  try {
    return from[name];
  } catch (cause) {
    throw keyValueError(source, `"${reached}" cannot be read`, { cause });
  }
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
  const [dotted = '', ...names] = source.split(':').map((part) => part.trim());
  const [root = '', ...path] = dotted.split('.');
  if (root === '' || path.includes('')) {
    throw templateError(template, `has a placeholder without a name: <${source}>`);
  }
  const filters = names.map((name) => {
    const filter = filterOf(name);
    if (filter) return filter;
    throw templateError(template, `has an unknown filter ":${name}"; known: ${FILTER_NAMES}`);
  });
  return { template, placeholder: `<${source}>`, root, path, filters };
}

function checkLiteral(literal: string, template: string): void {
  if (/[<>]/.test(literal)) throw templateError(template, 'has a "<" or ">" without its partner');
}

function templateError(template: string, problem: string): TypeError {
  return optionError(`Lock key template "${template}" ${problem}`);
}
