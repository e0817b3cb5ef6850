import { LockService } from '../../core/lock.service.js';
import { Output } from '../output/output.js';
import { STORE_TIMEOUT } from '../settings/shared-options.js';
import type { SharedOptions } from '../settings/shared-options.js';
import { openStore } from '../store/open-store.js';
import type { OpenedStore } from '../store/opened-store.js';

/** The locks and settings of a command. */
export interface Opened {
  readonly locks: LockService;
  readonly opened: OpenedStore;
  readonly output: Output;
}

/** Opens the store of `options`, calls `work`, and closes the store. Resolves with the exit code that `work` gives. */
export async function withLocks(
  options: SharedOptions & { readonly ttl?: number | undefined },
  work: (opened: Opened) => Promise<number>,
): Promise<number> {
  const { store, prefix, ttl, storeTimeout = STORE_TIMEOUT } = options;
  const opened = await openStore(store, { prefix, ttl });
  const locks = new LockService(opened.store, { storeTimeout });
  try {
    return await work({ locks, opened, output: new Output(options) });
  } finally {
    await locks.close();
    await opened.close();
  }
}
