import { READERS, isReader, isShared } from './hold-mode.js';

const EXCLUSIVE = 'write';
const READ = 'read';

/** The text in a store for the permits of a request: `write`, a word for readers, or their number. */
export function permitsText(permits: number | undefined, readers = READ): string {
  if (!isShared(permits)) return EXCLUSIVE;
  return isReader(permits) ? readers : String(permits);
}

/** Reads what `permitsText` wrote, with its own word for readers. `NaN` for another text. */
export function permitsIn(text: string): number | undefined {
  if (text === EXCLUSIVE) return undefined;
  return text === READ ? READERS : Number(text);
}
