import { SqlLockStore } from 'nest-holdfast/sql';
import { type StoreAddress, openStore } from './workers/open-store.js';

/** Makes the table of a store that has one. */
export async function prepareStore(address: StoreAddress): Promise<void> {
  const opened = await openStore(address, 1_000);
  if (opened.store instanceof SqlLockStore) await opened.store.createTable();
  await opened.store.close?.();
  await opened.close();
}
