import { LockService, LockStoreError, LockUnsupportedError } from 'nest-holdfast/core';
import type { LockListQuery, LockPage } from 'nest-holdfast/core';
import { FakeStore } from '../support/fake-store';

class ListingStore extends FakeStore {
  readonly queries: LockListQuery[] = [];
  onList: () => Promise<LockPage> = () => Promise.resolve({ locks: [{ key: 'a' }], cursor: '7' });

  list(query: LockListQuery): Promise<LockPage> {
    this.queries.push(query);
    return this.onList();
  }
}

describe('locks.list()', () => {
  it('gives a page of the store', async () => {
    const store = new ListingStore();
    const locks = new LockService(store);
    expect(await locks.list()).toEqual({ locks: [{ key: 'a' }], cursor: '7' });
    await locks.list({ match: 'order:*', cursor: '7', limit: 5 });
    expect(store.queries).toEqual([
      { match: undefined, cursor: undefined, limit: 100 },
      { match: 'order:*', cursor: '7', limit: 5 },
    ]);
  });

  it('rejects where the store cannot list', async () => {
    const refused = new LockService(new FakeStore()).list();
    await expect(refused).rejects.toBeInstanceOf(LockUnsupportedError);
    await expect(refused).rejects.toThrow('Lock store "fake" cannot list its locks');
  });

  it.each([
    [{ limit: 0 }, 'limit must be a whole number of locks from 1 to 1000, got 0'],
    [{ limit: 1_001 }, 'limit must be a whole number of locks from 1 to 1000, got 1001'],
    [{ match: '' }, 'match must be a string that is not empty'],
    [{ cursor: 7 as never }, 'cursor must be a string, got 7'],
    [{ pattern: '*' } as never, 'unknown option "pattern"'],
  ])('refuses %p', async (options, message) => {
    const locks = new LockService(new ListingStore());
    await expect(locks.list(options)).rejects.toMatchObject({ code: 'LOCK_OPTION_INVALID' });
    await expect(locks.list(options)).rejects.toThrow(message);
  });

  it.each([
    ['an error', () => Promise.reject(new Error('down'))],
    ['no page', () => Promise.resolve(undefined)],
    ['a lock without a key', () => Promise.resolve({ locks: [{}] })],
    ['a cursor that is no text', () => Promise.resolve({ locks: [], cursor: 0 })],
  ])('rejects for %s of the store', async (_, onList) => {
    const store = new ListingStore();
    store.onList = onList as never;
    await expect(new LockService(store).list()).rejects.toBeInstanceOf(LockStoreError);
  });
});
