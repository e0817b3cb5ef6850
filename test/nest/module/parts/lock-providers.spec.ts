import type { FactoryProvider, Provider } from '@nestjs/common';
import { Logger } from '@nestjs/common';
import { DistributedLockModule, LockService, MemoryLockStore } from 'nest-holdfast';
import { FakeClock } from 'nest-holdfast/testing';
import {
  lockProviders,
  MODULE_CONNECTIONS,
  MODULE_LOCKS,
} from '../../../../lib/nest/module/lock-providers';
import { getLeadersToken, LeaderService } from '../../../../lib/nest/module/leader.service';
import { MODULE_NAME } from '../../../../lib/nest/module/module-checks';
import {
  getLockClientToken,
  getLockErrorsToken,
  getLocksToken,
} from '../../../../lib/nest/plan/lock-tokens';
import { errorOf, rejectionOf } from '../../../core/support/outcome';

const noProviders = { getProviders: () => [], getControllers: () => [] };

/** The factories of an instance with this name. */
function own(name?: string) {
  const { providers, exported } = lockProviders('options', name);
  const isOf = (token: unknown) => (each: Provider) =>
    typeof each === 'object' && 'provide' in each && each.provide === token;
  const find = (token: unknown) => providers.find(isOf(token)) as FactoryProvider;
  const make = (token: unknown, ...args: unknown[]) => find(token).useFactory(...args) as unknown;
  const locks = (options: object, connections?: object, standIns?: object) =>
    make(getLocksToken(name), options, connections, name, standIns) as Promise<LockService>;
  const connections = (options: object, standIns?: object) =>
    make(MODULE_CONNECTIONS, options, name, noProviders, standIns) as Promise<unknown>;
  return { exported, find, make, locks, connections };
}

describe('The providers of an instance', () => {
  it.each([undefined, 'reports'])('have tokens of its name: %s', (name) => {
    const { exported, find } = own(name);
    expect(exported.slice(0, 4)).toEqual([
      getLocksToken(name),
      getLockClientToken(name),
      getLockErrorsToken(name),
      getLeadersToken(name),
    ]);
    for (const token of exported.slice(0, 4)) expect(find(token)).toBeDefined();
    expect(find(MODULE_NAME)).toMatchObject({ useValue: name });
    expect(find(MODULE_LOCKS)).toMatchObject({ useExisting: getLocksToken(name) });
  });

  it('are given what they need', () => {
    const { find } = own('reports');
    expect(find(getLockErrorsToken('reports')).inject).toEqual(['options']);
    expect(find(getLockClientToken('reports')).inject).toEqual([MODULE_CONNECTIONS]);
    expect(find(getLocksToken('reports')).inject).toHaveLength(4);
  });

  it('of two modules differ', () => {
    const ids = [1, 2].map(() => lockProviders('options', undefined).providers[0]);
    expect(ids[0]).not.toEqual(ids[1]);
  });

  it('provide the client of its connections, the options of its errors, and its elections', () => {
    const { make } = own();
    const client = {};
    expect(make(getLockClientToken(), { client })).toBe(client);
    expect(make(getLockClientToken(), undefined)).toBeUndefined();
    const http = { busyStatus: 423 };
    expect(make(getLockErrorsToken(), { http })).toBe(http);
    expect(make(getLockErrorsToken(), { http: false })).toBe(false);
    expect([make(getLockErrorsToken(), {}), make(getLockErrorsToken(), undefined)]).toEqual([{}, {}]); // prettier-ignore
    expect(make(getLeadersToken(), {}, noProviders)).toBeInstanceOf(LeaderService);
  });
});

describe('A module', () => {
  it.each([
    [{ name: 5 }, /^DistributedLockModule: name must be /],
    [{ isGlobal: 'yes' }, /^DistributedLockModule: isGlobal must be /],
    [[], /^DistributedLockModule: the options must be an object, .*, got an array$/],
  ])('is refused at once with %j', (options, expected) => {
    expect(errorOf(() => DistributedLockModule.forRoot(options as never)).message).toMatch(
      expected,
    );
  });
});

describe('The connections of an instance', () => {
  it('are none without Redis, where it is switched off, or has a stand-in', async () => {
    const { connections } = own();
    expect(await connections({})).toBeUndefined();
    expect(await connections({ redis: 'redis://127.0.0.1:1', enabled: false })).toBeUndefined();
    expect(
      await connections({ redis: 'redis://127.0.0.1:1' }, { store: () => {} }),
    ).toBeUndefined();
    expect(await connections({ redis: '', enabled: false })).toBeUndefined();
  });

  it('are refused where the options are wrong', async () => {
    const { connections } = own();
    expect((await rejectionOf(connections({ ttl: 0 }))).message).toMatch(/: ttl must be/);
    expect((await rejectionOf(connections({ redis: '' }))).message).toMatch(/: redis is empty/);
  });

  it('are those of both sides of a move', async () => {
    const to = { store: new MemoryLockStore() };
    const migrate = { to, phase: 'to', largestTtl: 5, fromClosed: true };
    const found = await own().connections({ migrate });
    expect(found).toMatchObject({ from: undefined, to: undefined, client: [] });
  });
});

describe('The service of an instance', () => {
  const logged = jest.fn();
  beforeEach(() => {
    logged.mockReset();
    for (const level of ['warn', 'error', 'log', 'debug'] as const)
      jest.spyOn(Logger.prototype, level).mockImplementation(function (this: Logger, ...all) {
        logged(Reflect.get(this, 'context'), ...all);
      });
  });
  afterEach(() => jest.restoreAllMocks());

  const failing = () =>
    Object.assign(new MemoryLockStore(), { tryAcquire: () => Promise.reject(new Error('down')) });

  it.each([
    [undefined, 'Locks'],
    ['reports', 'Locks:reports'],
  ])('tells the logger of Nest what fails, under its name: %s', async (name, context) => {
    const locks = await own(name).locks({ store: failing() });
    await locks.acquire('a', { waitTimeout: 0 }).catch(() => undefined);
    expect(logged.mock.calls[0]![0]).toBe(context);
  });

  it('tells it nothing where it is told so', async () => {
    const locks = await own().locks({ store: failing(), logs: false });
    await locks.acquire('a', { waitTimeout: 0 }).catch(() => undefined);
    expect(logged).not.toHaveBeenCalled();
  });

  it('has the options of the module for its locks', async () => {
    const clock = new FakeClock(50_000);
    const locks = await own().locks({ store: new MemoryLockStore(clock), clock, ttl: 60_000 });
    expect((await locks.acquire('a')).remaining).toBe(60_000 * 0.99 - 2);
  });

  it('closes its connections where it cannot be made, if it has some', async () => {
    const close = jest.fn().mockResolvedValue(undefined);
    const wrong = { store: new MemoryLockStore(), ttl: 0 };
    const { locks } = own();
    const { message } = await rejectionOf(locks(wrong, { client: undefined, close }));
    expect(message).toMatch(/^DistributedLockModule: .*ttl must be/);
    expect(close).toHaveBeenCalledTimes(1);
    expect((await rejectionOf(locks(wrong))).message).toMatch(/: ttl must be/);
  });

  it('has the store and the clock of a stand-in, where there is one', async () => {
    const [clock, other] = [new FakeClock(50_000), new FakeClock(70_000)];
    const store = jest.fn(() => new MemoryLockStore(clock));
    const stand = own('reports');
    const locks = await stand.locks({ clock: other, ttl: 60_000 }, undefined, { clock, store });
    expect(store.mock.calls).toEqual([['reports', clock]]);
    expect((await locks.acquire('a')).remaining).toBe(60_000 * 0.99 - 2);
    await stand.locks({ clock: other }, undefined, { store });
    expect(store.mock.calls.at(-1)).toEqual(['reports', other]);
  });
});
