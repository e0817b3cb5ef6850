/** Characters of a value from outside that one message repeats. */
const LONGEST_ECHO = 80;

/**
 * Controls, half surrogate pairs, line separators, and invisible characters, such as the marks that turn the order of a line.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * `text` with escapes for characters that would end a line, colour a terminal or hide a part of the text: for logs and answers.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** A value from outside in double quotes, as JSON writes it: printable, at most 80 characters of it. */
export function quoted(text: string): string {
  return `"${echo(JSON.stringify(text.slice(0, LONGEST_ECHO + 1)).slice(1, -1))}"`;
}

/** The beginning of `text`, printable: at most 80 characters, the last of which is then `…`. */
export function echo(text: string): string {
  const shown = printable(text.slice(0, LONGEST_ECHO + 1));
  if (shown.length <= LONGEST_ECHO) return shown;
  return `${shown.slice(0, LONGEST_ECHO - 1).toWellFormed()}…`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!.toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
