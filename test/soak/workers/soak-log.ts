import { openSync, writeSync } from 'node:fs';
import type { Entry } from '../../support/histories/history.js';

/** The history of one service, for the checker of histories, and the counts of a round. */
export class SoakLog {
  grants = 0;
  losses = 0;
  refusals: Record<string, number> = {};
  readonly #file: number;
  #asks = 0;

  /** The file is opened for appending: its reader empties it after each round. */
  constructor(file: string) {
    this.#file = openSync(file, 'a');
  }

  nextAsk(): number {
    return this.#asks++;
  }

  /** At once, so that a process that is killed has told everything. */
  record(entry: Entry): void {
    if (entry.is === 'granted') this.grants += 1;
    if (entry.is === 'lost') this.losses += 1;
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  /** Counts an error by its code; without one, by its text, which is a defect. */
  refused(error: unknown): string {
    const { code, name } = error as { code?: unknown; name?: string };
    const coded = typeof code === 'string' && code.startsWith('LOCK_') ? code : undefined;
    const why = name === 'AbortError' ? name : (coded ?? `uncoded: ${String(error)}`);
    this.refusals[why] = (this.refusals[why] ?? 0) + 1;
    return why;
  }
}
