import type { LockInspection } from '../contract/lock-store.js';
import { checkInspection } from '../contract/store-answers.js';
import type { InspectionContext } from './ask-store.js';

/** Milliseconds that an error waits for the name of the holder. */
const WITHIN = 100;
/** Of a call for several keys where the store does not say which of them was refused. */
const MOST_KEYS = 10;

/** The holder of a key, for errors. Many callers that give up at once share one question. */
export class HolderLookup {
  readonly #context: InspectionContext;
  readonly #asked = new Map<string, Promise<string | undefined>>();

  constructor(context: InspectionContext) {
    this.#context = context;
  }

  /**
   * The process that has one of `keys`: `host:pid:startTime`. Never rejects; `undefined` when the store does not say so at once,
   * or has none of the first keys.
   */
  async holderOf(keys: readonly string[]): Promise<string | undefined> {
    const holders = await Promise.all(keys.slice(0, MOST_KEYS).map((key) => this.#holderOf(key)));
    return holders.find((holder) => holder !== undefined);
  }

  #holderOf(key: string): Promise<string | undefined> {
    const known = this.#asked.get(key);
    if (known) return known;
    const asked = this.#ask(key).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return asked;
  }

  #ask(key: string): Promise<string | undefined> {
    const { store, calls } = this.#context;
    return calls.make<LockInspection | undefined, string | undefined>({
      ask: async () => store.inspect?.(key),
      within: WITHIN,
      check: checkInspection,
      read: (inspection) => inspection?.holder ?? inspection?.holders?.[0],
      recover: () => undefined,
    });
  }
}
