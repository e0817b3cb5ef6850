import { Redis } from 'ioredis';
import { MemoryLockStore } from 'nest-holdfast';
import type { LockStore } from 'nest-holdfast';
import { connectSides, migratingStore } from '../../../../lib/nest/module/migrate/migrating-store';
import { rejectionOf } from '../../../core/support/outcome';

const phase = { phase: 'dual', largestTtl: 30_000 } as const;
const store = () => ({ store: new MemoryLockStore() });

/** A client that the module makes, and closes. */
function aSource() {
  const client = new Redis({ lazyConnect: true });
  const quit = jest.spyOn(client, 'quit').mockResolvedValue('OK');
  return { redis: () => client, client, quit };
}

describe('The connections of a move', () => {
  it('are those of both sides, and the client is that of the target', async () => {
    const [from, to] = [aSource(), aSource()];
    const found = await connectSides({ from, to, ...phase }, {});
    expect([found.from!.client, found.to!.client, found.client]).toEqual([from.client, to.client, to.client]); // prettier-ignore
    await found.close();
    expect([from.quit.mock.calls.length, to.quit.mock.calls.length]).toEqual([1, 1]);
  });

  it('are those of the one side that has Redis', async () => {
    const from = aSource();
    const found = await connectSides({ from, to: store(), ...phase }, {});
    expect([found.from!.client, found.to, found.client]).toEqual([from.client, undefined, from.client]); // prettier-ignore
    await found.close();
    expect(from.quit).toHaveBeenCalledTimes(1);
    const none = await connectSides({ to: store(), ...phase }, {});
    expect([none.from, none.to, none.client]).toEqual([undefined, undefined, []]);
    await none.close();
  });

  it('are closed again where one side is unusable', async () => {
    const from = aSource();
    const to = { redis: 5 as never };
    const error = await rejectionOf(connectSides({ from, to, ...phase }, {}));
    expect(error.message).toMatch(/^redis must be /);
    expect(from.quit).toHaveBeenCalledTimes(1);
  });
});

describe('The store of a move', () => {
  const connections = (from?: object, to?: object) =>
    ({ from: from && { client: from }, to: to && { client: to } }) as never;

  it('is made of both sides, each with its client', async () => {
    const sides = { from: { keyPrefix: 'a' }, to: { keyPrefix: 'b' } };
    const [from, to] = [{}, {}];
    const make = jest.fn(async (): Promise<LockStore> => new MemoryLockStore());
    const made = await migratingStore(
      { ...sides, ...phase },
      connections(from, to),
      make,
      undefined,
    );
    expect(made.name).toBe('memory+memory');
    expect(make.mock.calls).toEqual([
      [sides.from, from],
      [sides.to, to],
    ]);
    await made.close!();
  });

  it('is made of the target alone, and without connections', async () => {
    const make = jest.fn(async (): Promise<LockStore> => new MemoryLockStore());
    const to = store();
    const alone = { to, phase: 'to', largestTtl: 5, fromClosed: true } as const;
    for (const each of [undefined, connections()])
      expect((await migratingStore(alone, each, make, undefined)).name).toBe('memory');
    expect(make.mock.calls).toEqual([
      [to, undefined],
      [to, undefined],
    ]);
  });

  it('is closed where the phase comes too early', async () => {
    const closes = [jest.fn(), jest.fn()];
    const stores = closes.map((close) => Object.assign(new MemoryLockStore(), { close }));
    const make = async (): Promise<LockStore> => stores.shift()!;
    const early = { from: store(), to: store(), phase: 'to', largestTtl: 30_000 } as const;
    const error = await rejectionOf(migratingStore(early, undefined, make, undefined));
    expect(error).toMatchObject({ code: expect.stringMatching(/^LOCK_MIGRATE_/) });
    for (const close of closes) expect(close).toHaveBeenCalledTimes(1);
  });
});
