import { LockService } from 'nest-holdfast/core';
import type { StoreNotice, StoreWarning } from 'nest-holdfast/core';
import { FakeStore } from '../support/fake-store';

/** A store that tells what a test says. */
class TellingStore extends FakeStore {
  tell!: (notice: StoreNotice) => void;
  warn!: (warning: StoreWarning) => void;

  observe(tell: (notice: StoreNotice) => void): void {
    this.tell = tell;
  }

  checkServers(warn: (warning: StoreWarning) => void): void {
    this.warn = warn;
  }
}

const WARNING: StoreWarning = { code: 'HOLDFAST_TEST', message: 'it forgets locks' };

async function used() {
  const store = new TellingStore();
  const locks = new LockService(store);
  await (await locks.acquire('a')).release();
  return { store, locks };
}

describe('What a store tells', () => {
  let warned: jest.SpyInstance;
  beforeEach(
    () => (warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)),
  );
  afterEach(() => warned.mockRestore());

  it('of its settings is an event with the name of the store, where a listener is there', async () => {
    const { store, locks } = await used();
    const heard = jest.fn();
    locks.events.on('warning', heard);
    store.warn(WARNING);
    expect(heard).toHaveBeenCalledWith({ ...WARNING, store: 'fake' });
    expect(warned).not.toHaveBeenCalled();
  });

  it('of its settings is a warning of the process, where none is', async () => {
    const { store } = await used();
    store.warn(WARNING);
    expect(warned).toHaveBeenCalledTimes(1);
    expect(warned.mock.calls[0]).toEqual(expect.arrayContaining([WARNING.message]));
    expect(JSON.stringify(warned.mock.calls[0])).toContain(WARNING.code);
  });

  it('of a node is an event with the name of the store', async () => {
    const { store, locks } = await used();
    const heard = jest.fn();
    locks.events.on('node', heard);
    store.tell({ type: 'node', node: 'db-1', state: 'suspended', reason: 'silent' });
    expect(heard).toHaveBeenCalledWith({ node: 'db-1', state: 'suspended', reason: 'silent', store: 'fake' }); // prettier-ignore
  });
});
