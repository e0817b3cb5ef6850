/** `%` would be read as an escape, `:` as the end of a part; a control has no place in a log. */
const ALWAYS_RESERVED = String.raw`%:\p{Cc}`;

/**
 * The text around the values of a key. `order:<id>/<line>` has `['order:', '/', '']`.
 *
 * The key contains each value unchanged, except for its reserved characters. These become `%` and the bytes of their UTF-8 form:
 * `%`, `:`, controls, and the first character of the text behind the value, if another value follows that text. So a key made by
 * hand is nearly always the same.
 *
 * Two lists of values never give one key. An escaped value reads back in one way only, for every `%` in it begins an escape. It
 * does not contain the character that follows it: that one is reserved, and neither `%` nor a hexadecimal digit, so that no
 * escape brings it in. Hence the first such character behind the text before a value ends the value, from left to right; the
 * last value is the rest. And a value never brings a `:` in: the parts between the colons of a key are those of its text.
 */
export class KeyText {
  readonly #texts: readonly string[];
  readonly #reserved: readonly RegExp[];

  /** One text more than values. Throws what `refuse` makes of a problem. */
  constructor(texts: readonly string[], refuse: (problem: string) => TypeError) {
    if (texts.length === 1 && texts[0] === '') throw refuse('is empty');
    if (!texts.every((each) => each.isWellFormed())) {
      throw refuse('contains half of a surrogate pair, which has no UTF-8 form');
    }
    this.#texts = texts;
    this.#reserved = texts.slice(1).map((behind, index) => {
      const isLast = index === texts.length - 2;
      return reserved(isLast ? '' : separatorIn(behind, refuse));
    });
  }

  /** The key. As many values as the text has gaps. */
  fill(values: readonly string[]): string {
    let key = this.#texts[0]!;
    for (let index = 0; index < values.length; index++) {
      key += values[index]!.replace(this.#reserved[index]!, percentEncoded);
      key += this.#texts[index + 1]!;
    }
    return key;
  }
}

/** Without a separator that values cannot contain, `1` + `23` and `12` + `3` would be one key. */
function separatorIn(text: string, refuse: (problem: string) => TypeError): string {
  if (text !== '' && !/^[A-Za-z0-9%]/.test(text)) return String.fromCodePoint(text.codePointAt(0)!);
  throw refuse(
    'needs a separator between two placeholders that starts with neither a letter, a digit nor "%", such as ":"',
  );
}

function reserved(separator: string): RegExp {
  const own = separator === '' ? '' : String.raw`\u{${separator.codePointAt(0)!.toString(16)}}`;
  return new RegExp(`[${ALWAYS_RESERVED}${own}]`, 'gu');
}

function percentEncoded(character: string): string {
  const encoded = encodeURIComponent(character);
  if (encoded !== character) return encoded;
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`; // one of - _ . ! ~ * ' ( )
}
