import { LockService, LockStoreError } from 'nest-holdfast/core';
import { FakeClock, LockControl } from 'nest-holdfast/testing';
import { DisabledLockStore } from '../../lib/nest/module/disabled-lock.store.js';

describe('the list of LockControl', () => {
  it.each([1, 2, 3, 100])(
    'has what a command holds, then what callers hold, in pages of %i',
    async (limit) => {
      const clock = new FakeClock();
      const control = new LockControl({ clock });
      const locks = new LockService(control.store(), { clock });
      for (const key of ['order:1', 'order:2', 'page']) await locks.acquire(key);
      control.hold('order:4');
      control.busy('order:3');
      control.busy('other');
      control.hold('order:1'); // its holder keeps it
      const found = [];
      let cursor: string | undefined;
      do {
        const page = await locks.list({ match: 'order:*', limit, cursor });
        found.push(...page.locks.map(({ key, holder }) => [key, holder === 'LockControl']));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(found).toEqual([
        ['order:3', true],
        ['order:4', true],
        ['order:1', false],
        ['order:2', false],
      ]);
    },
  );

  it('fails on command', async () => {
    const control = new LockControl();
    const locks = new LockService(control.store());
    control.failing();
    await expect(locks.list()).rejects.toBeInstanceOf(LockStoreError);
  });
});

it('the list of locks that are turned off is empty', async () => {
  expect(await new LockService(new DisabledLockStore()).list()).toEqual({ locks: [] });
});
