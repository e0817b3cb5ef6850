import type { Clock } from '../../core/async/clock.js';
import type { LockInspection, NodeReport } from '../../core/contract/lock-store.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import { LockUnsupportedError } from '../../core/contract/lock-errors.js';
import { LONGEST_KEY_BYTES } from '../../core/keys/lock-keys.js';
import type { LockService } from '../../core/lock.service.js';

/** Locks of one question to the store. */
const PAGE = 1_000;
/** Milliseconds after which a walk ends: a server may have millions of keys that are no locks. */
const LONGEST = 5_000;

/** One walk over the locks of a store, page by page. Its findings can be read before it has ended. */
export class StoreWalk {
  readonly found = new Map<string, LockInspection>();
  /** The store can list its locks. */
  canList = true;
  /** The walk reached the end of all of the store. */
  isComplete = false;
  /** Why something is missing, in words. */
  failure: string | undefined;
  readonly #locks: LockService;
  readonly #limit: number;

  /** `limit`: the number of locks beyond which the walk ends. */
  constructor(locks: LockService, limit: number) {
    this.#locks = locks;
    this.#limit = limit;
  }

  /** Never rejects. Goes on while `isWanted`. */
  async run(clock: Clock, isWanted: () => boolean): Promise<void> {
    const since = clock.now();
    const mayGoOn = () =>
      this.found.size <= this.#limit && clock.now() - since < LONGEST && isWanted();
    try {
      let cursor: string | undefined;
      do cursor = await this.#page(cursor);
      while (cursor !== undefined && mayGoOn());
      this.isComplete = cursor === undefined && this.failure === undefined;
    } catch (error) {
      this.canList = !(error instanceof LockUnsupportedError);
      if (this.canList) this.failure = reasonOf(error);
    }
  }

  async #page(cursor: string | undefined): Promise<string | undefined> {
    const limit = Math.min(PAGE, this.#limit - this.found.size + 1);
    const page = await this.#locks.list({ cursor, limit });
    for (const lock of page.locks) if (isKey(lock.key)) this.found.set(lock.key, lock);
    if (page.unreachable?.length) this.failure = inWords(page.unreachable);
    return page.cursor;
  }
}

/** Another program's key may be of any size, and the page cannot ask for it. */
function isKey(key: string): boolean {
  return Buffer.byteLength(key) <= LONGEST_KEY_BYTES;
}

function inWords(unreachable: readonly NodeReport[]): string {
  const nodes = unreachable.map(({ node, said }) => `${node}: ${said}`);
  return `Not all nodes could be listed. ${nodes.join('; ')}`;
}
