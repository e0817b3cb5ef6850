import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import type { LockEvent, LockServiceOptions } from 'nest-holdfast/core';
import { inMemory, onFakeStore } from '../support/setup';

const INVALID = { code: 'LOCK_OPTION_INVALID' };

describe('The name of a lock', () => {
  it('is carried by the lock and by its events', async () => {
    const { locks } = onFakeStore();
    const events: LockEvent[] = [];
    for (const name of ['held', 'released'] as const)
      locks.events.on(name, (event: LockEvent) => events.push(event));
    const lock = await locks.acquire('order:42', { name: 'order:<id>' });
    expect(lock.name).toBe('order:<id>');
    await lock.release();
    expect(events.map(({ name }) => name)).toEqual(['order:<id>', 'order:<id>']);
  });

  it('is missing unless it is given', async () => {
    const { locks } = onFakeStore();
    const held = jest.fn<void, [LockEvent]>();
    locks.events.on('held', held);
    expect((await locks.acquire('order:42')).name).toBeUndefined();
    expect(held).toHaveBeenCalledWith(expect.objectContaining({ name: undefined }));
  });

  it('of a nested call is its own, or that of the lock', async () => {
    const { locks } = inMemory();
    const reentered = jest.fn<void, [LockEvent]>();
    locks.events.on('reentered', reentered);
    const nested = { reentrant: true };
    await locks.withLock('a', { name: 'outer' }, async () => {
      await locks.withLock('a', nested, ({ name }) => expect(name).toBe('outer'));
      await locks.withLock('a', { ...nested, name: 'inner' }, ({ name }) =>
        expect(name).toBe('inner'),
      );
    });
    expect(reentered.mock.calls.map(([{ name }]) => name)).toEqual(['outer', 'inner']);
  });

  it('may have 200 characters', async () => {
    const { locks } = onFakeStore();
    const name = 'n'.repeat(200);
    expect((await locks.acquire('a', { name })).name).toBe(name);
  });

  it.each([[''], ['n'.repeat(201)], [42 as never], [null as never]])(
    'cannot be %p',
    async (name) => {
      const { locks } = onFakeStore();
      await expect(locks.acquire('a', { name })).rejects.toMatchObject(INVALID);
      await expect(locks.acquire('a', { name })).rejects.toThrow(
        /^name must be a string of 1 to 200 characters, got /,
      );
    },
  );

  it('is no default of a service', () => {
    const options = { name: 'orders' } as LockServiceOptions;
    expect(() => new LockService(new MemoryLockStore(), options)).toThrow(
      'LockService: name belongs to a call or a decorator, not to the defaults',
    );
  });
});
