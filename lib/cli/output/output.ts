import { styleText } from 'node:util';
import { READERS } from '../../core/sharing/hold-mode.js';
import { printable } from '../../core/text/printable.js';
import { oneLine } from './failure.js';

type Style = Parameters<typeof styleText>[0];

/** Where a command writes: data to stdout, all else to stderr. */
export class Output {
  readonly isJson: boolean;

  constructor({ json = false }: { readonly json?: boolean | undefined }) {
    this.isJson = json;
  }

  /** One object of data: a line of JSON, or the lines of `text`. */
  data(object: object, text: () => string): void {
    const line = this.isJson ? jsonOf(object) : text();
    process.stdout.write(`${line}\n`);
  }

  /** A word to people, on stderr. */
  note(text: string): void {
    process.stderr.write(`holdfast: ${oneLine(text)}\n`);
  }

  /** Whether stdout shows a text that is drawn again in place. */
  get isScreen(): boolean {
    return process.stdout.isTTY && !this.isJson;
  }

  /** `text`, printable and in a colour, where stdout is a terminal and `NO_COLOR` is not set. */
  styled(style: Style, text: string): string {
    const shown = printable(text);
    const isPlain = !process.stdout.isTTY || Boolean(process.env['NO_COLOR']);
    return isPlain ? shown : styleText(style, shown);
  }
}

/** Bigints as strings, for JSON has no numbers of that size; the permits of readers as `"Infinity"`. */
export function jsonOf(object: object): string {
  return JSON.stringify(object, (_name, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    return value === READERS ? 'Infinity' : value;
  });
}
