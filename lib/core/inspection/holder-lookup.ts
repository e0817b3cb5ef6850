import type { LockInspection } from '../contract/lock-store.js';
import { checkInspection } from '../contract/store-answers.js';
import type { InspectionContext } from './ask-store.js';

/** Milliseconds that an error waits for the name of the holder. */
const WITHIN = 100;
/** Of a call for several keys where the store does not say which of them was refused. */
const MOST_KEYS = 10;

/** The holder of a key, as an error names it. */
export interface FoundHolder {
  readonly heldBy?: string;
  readonly heldFor?: number;
}

/** The holder of a key, for errors. Many callers that give up at once share one question. */
export class HolderLookup {
  readonly #context: InspectionContext;
  readonly #asked = new Map<string, Promise<FoundHolder | undefined>>();

  constructor(context: InspectionContext) {
    this.#context = context;
  }

  /**
   * The process that has one of `keys`, `host:pid:startTime`, and for how long. Never rejects; `undefined` when the store does not say so at once,
   * or has none of the first keys.
   */
  async holderOf(keys: readonly string[]): Promise<FoundHolder | undefined> {
    const holders = await Promise.all(keys.slice(0, MOST_KEYS).map((key) => this.#holderOf(key)));
    return holders.find((holder) => holder !== undefined);
  }

  #holderOf(key: string): Promise<FoundHolder | undefined> {
    const known = this.#asked.get(key);
    if (known) return known;
    const asked = this.#ask(key).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return asked;
  }

  #ask(key: string): Promise<FoundHolder | undefined> {
    const { store, calls } = this.#context;
    return calls.make<LockInspection | undefined, FoundHolder | undefined>({
      ask: async () => store.inspect?.(key),
      within: WITHIN,
      check: checkInspection,
      read: foundHolder,
      recover: () => undefined,
    });
  }
}

function foundHolder(inspection: LockInspection | undefined): FoundHolder | undefined {
  const heldBy = inspection?.holder ?? inspection?.holders?.[0];
  const heldFor = inspection?.heldFor;
  if (heldBy === undefined && heldFor === undefined) return undefined;
  return { ...(heldBy !== undefined && { heldBy }), ...(heldFor !== undefined && { heldFor }) };
}
