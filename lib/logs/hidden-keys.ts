import { keyNames } from '../core/keys/lock-keys.js';
import { printable, quoted } from '../core/text/printable.js';

/** Replaces a key whose redaction fails. */
const HIDDEN = '***';
/** Characters from which on a key is found wherever it stands: a shorter one may be a part of any word. */
const LONG = 4;

/** Prints keys, also those inside other texts, as `redactKey` wants them. */
export class HiddenKeys {
  readonly #redactKey: ((key: string) => string) | undefined;

  constructor(redactKey: ((key: string) => string) | undefined) {
    this.#redactKey = redactKey;
  }

  /** In double quotes. */
  shown(keys: readonly string[]): string {
    return quoted(keyNames(keys.map((key) => this.#shown(key))));
  }

  /** `text`, in which keys may stand as they are, or as messages quote them. */
  within(text: string, keys: readonly string[]): string {
    if (!this.#redactKey) return printable(text);
    const all = [keyNames(keys), ...keys.toSorted((a, b) => b.length - a.length)];
    let hidden = quotedParts(all).reduce((rest, part) => rest.replaceAll(part, this.shown(keys)), text); // prettier-ignore
    for (const key of all.slice(1)) {
      const form = key.length < LONG ? new RegExp(`(?<!\\w)${escaped(key)}(?!\\w)`, 'g') : key;
      const shown = this.#shown(key);
      hidden = hidden.replaceAll(form, () => shown);
    }
    return printable(hidden);
  }

  #shown(key: string): string {
    try {
      const shown: unknown = this.#redactKey ? this.#redactKey(key) : key;
      if (typeof shown === 'string') return shown;
      Promise.resolve(shown).catch(() => undefined); // one that is async and rejects ends no process
      return HIDDEN;
    } catch {
      return HIDDEN;
    }
  }
}

/** With their quotes: messages repeat the beginning of a long key only. */
function quotedParts(names: readonly string[]): string[] {
  return [...new Set(names.map(quoted))];
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
