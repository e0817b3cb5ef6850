import { Logger } from '@nestjs/common';
import { systemClock } from '../../../../lib/core/async/clock';
import { DistributedLockModule } from '../../../../lib/nest/module/distributed-lock.module';
import { warnWithoutShutdownHooks } from '../../../../lib/nest/module/shutdown-hooks';

describe('An application whose locks outlive it', () => {
  const warn = jest.fn();
  let listeners: number;

  beforeEach(() => {
    warn.mockReset();
    listeners = 0;
    jest.replaceProperty(process, 'env', { ...process.env, NODE_ENV: 'production' });
    jest.spyOn(process, 'listenerCount').mockImplementation(() => listeners);
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(warn);
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('is warned a second after its start where nothing listens to SIGTERM', () => {
    warnWithoutShutdownHooks(new Logger('x'));
    jest.advanceTimersByTime(999);
    expect(warn).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(warn.mock.calls.map(String)).toEqual([
      expect.stringMatching(/^Nothing listens to SIGTERM, .*: call app.enableShutdownHooks\(\)$/),
    ]);
  });

  it('is kept alive by no timer', () => {
    const schedule = jest.spyOn(systemClock, 'schedule');
    warnWithoutShutdownHooks(new Logger('x'));
    expect(schedule.mock.calls).toEqual([[1_000, expect.any(Function), true]]);
  });

  it('is not warned where something listens by then', () => {
    warnWithoutShutdownHooks(new Logger('x'));
    listeners = 1;
    jest.advanceTimersByTime(1_000);
    expect(warn).not.toHaveBeenCalled();
  });

  it('is not warned once that is cancelled, nor by a test runner', () => {
    warnWithoutShutdownHooks(new Logger('x'))();
    process.env['NODE_ENV'] = 'test';
    warnWithoutShutdownHooks(new Logger('x'))();
    warnWithoutShutdownHooks(new Logger('x'));
    jest.advanceTimersByTime(1_000);
    expect(warn).not.toHaveBeenCalled();
  });

  /** A module that Nest has made, with a service of this store. */
  function moduleOf(storeName: string | undefined) {
    const locks = { storeName, endWaits: jest.fn(), close: jest.fn().mockResolvedValue(undefined) };
    const connections = { client: [], close: jest.fn().mockResolvedValue(undefined) };
    const discovery = { getProviders: () => [], getControllers: () => [] };
    const module = new DistributedLockModule('a', locks as never, connections, discovery as never);
    return { module, locks, connections };
  }

  it.each([
    ['redis', 1],
    ['memory', 0],
    ['disabled', 0],
  ])('is one with the store %s: %i', (storeName, times) => {
    moduleOf(storeName).module.onApplicationBootstrap();
    jest.advanceTimersByTime(1_000);
    expect(warn).toHaveBeenCalledTimes(times);
  });

  it('is not warned while it shuts down, which ends the waits first', async () => {
    const { module, locks, connections } = moduleOf('redis');
    module.onApplicationBootstrap();
    module.beforeApplicationShutdown();
    expect([locks.endWaits.mock.calls.length, locks.close.mock.calls.length]).toEqual([1, 0]);
    jest.advanceTimersByTime(1_000);
    expect(warn).not.toHaveBeenCalled();
    await module.onApplicationShutdown();
    expect([locks.close.mock.calls.length, connections.close.mock.calls.length]).toEqual([1, 1]);
  });

  it('shuts down also with a mock in the place of its locks', async () => {
    const discovery = { getProviders: () => [], getControllers: () => [] };
    const module = new DistributedLockModule('a', {} as never, undefined, discovery as never);
    await module.onModuleInit();
    module.beforeApplicationShutdown();
    await expect(module.onApplicationShutdown()).resolves.toBeUndefined();
  });
});
