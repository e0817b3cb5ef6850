import { LockService, MemoryLockStore, logLocks } from 'nest-holdfast';
import type { LockLogOptions, LockLogger, LockStore } from 'nest-holdfast';
import { FakeClock } from 'nest-holdfast/testing';
import { rejectionOf } from '../core/support/outcome.js';

const PASSWORD = 'hunter2';
const PERSON = 'jane@example.com';

/** A store that fails when it is told to, and repeats the key and a URL in its errors. */
class FailingStore extends MemoryLockStore {
  isDown = false;

  override async tryAcquire(request: Parameters<LockStore['tryAcquire']>[0]) {
    if (this.isDown) throw new Error(`lock:${request.key} at redis://user:${PASSWORD}@db:6379`);
    return super.tryAcquire(request);
  }
}

function logged(options: Omit<LockLogOptions, 'clock'> = {}) {
  const clock = new FakeClock();
  const store = new FailingStore(clock);
  const locks = new LockService(store, { clock, waitTimeout: 0 });
  const lines: string[] = [];
  const say = (level: string) => (line: string) => void lines.push(`${level} ${line}`);
  const logger: LockLogger = { error: say('error'), warn: say('warn'), info: say('info') };
  const stop = logLocks(locks, logger, { ...options, clock });
  const fail = async (times: number, key = 'order:42', name?: string) => {
    store.isDown = true;
    for (let time = 0; time < times; time++) await rejectionOf(locks.acquire(key, { name }));
    store.isDown = false;
  };
  return { clock, store, locks, lines, stop, fail, taken: () => lines.splice(0) };
}

describe('logLocks', () => {
  it('says at once that the store fails, then every 10 s with the number of those left out', async () => {
    const { clock, fail, taken } = logged();
    await fail(5);
    expect(taken()).toEqual([expect.stringMatching(/^error Lock store "memory" failed for "order:42": /)]); // prettier-ignore
    await clock.advance(9_999);
    expect(taken()).toEqual([]);
    await clock.advance(1);
    expect(taken()).toEqual([expect.stringMatching(/^error .*\(and 3 more within 10 s\)$/)]);
    await clock.advance(60_000);
    expect(taken()).toEqual([]);
    await fail(1);
    expect(taken()).toHaveLength(1);
  });

  it('has a line for each lock name', async () => {
    const { fail, lines } = logged();
    for (const name of ['order:<id>', 'user:<id>']) {
      await fail(1, 'a', name);
      await fail(1, 'b', name);
    }
    expect(lines).toHaveLength(2);
  });

  it('says once that the store answers again, and listens to grants only meanwhile', async () => {
    const { clock, locks, fail, taken } = logged();
    const listeners = () => locks.events.listenerCount('held');
    expect(listeners()).toBe(0);
    await fail(1);
    await clock.advance(5_000);
    await fail(1);
    expect(listeners()).toBe(1);
    await locks.withLock('a', () => {}); // handed off inside the process, say
    await clock.advance(1_000);
    taken();
    await locks.withLock('a', () => {});
    await locks.withLock('a', () => {});
    expect(taken()).toEqual(['info Lock store "memory" answers again: it failed for 5.0 s']);
    expect(listeners()).toBe(0);
  });

  it('never says a password', async () => {
    const { fail, lines } = logged();
    await fail(1);
    expect(lines.join()).toContain('db:6379');
    expect(lines.join()).not.toContain(PASSWORD);
  });

  it.each([
    [
      'quoted and in the driver’s words',
      [`user:${PERSON}`],
      (key: string) => key.replace(PERSON, '…'),
    ],
    ['several', [`user:${PERSON}`, `mail:${PERSON}`], () => '…'],
    ['long ones', [`${'x'.repeat(200)}${PERSON}`], () => '…'],
    ['short ones', ['j@e'], () => '…'],
    ['and hides those whose redaction fails', [`user:${PERSON}`], () => { throw new Error('no'); }], // prettier-ignore
  ])('redacts keys: %s', async (_, keys, redactKey) => {
    const { store, locks, lines } = logged({ redactKey });
    store.isDown = true;
    await rejectionOf(locks.acquire(keys));
    expect(lines).toHaveLength(1);
    for (const secret of [PERSON, 'j@e', 'xxx']) expect(lines[0]).not.toContain(secret);
  });

  it('prints keys in one line, with any characters in them', async () => {
    const { fail, lines } = logged();
    await fail(1, 'a\nFAKE\u001b[31m');
    expect(lines[0]).not.toContain('\n');
    expect(lines[0]).not.toContain('\u001b');
  });

  it('says that a lock was lost, and that it is overdue', async () => {
    const { clock, locks, lines } = logged();
    const lock = await locks.acquire('order:42', { ttl: 1_000, autoExtend: false, maxHold: 500 });
    await clock.advance(2_000);
    expect(lock.isHeld).toBe(false);
    expect(lines).toEqual([
      expect.stringMatching(/^error Lock "order:42" is no longer held: /),
      expect.stringMatching(/^warn Lock "order:42" is overdue: it is held for \d+ ms$/),
    ]);
  });

  it('says what a server and a node say', () => {
    const { locks, lines } = logged();
    locks.events.publish('warning', () => ({ store: 'redis', code: 'A_CODE', message: 'Redis (a) forgets' })); // prettier-ignore
    for (const state of ['suspended', 'recovered'] as const)
      locks.events.publish('node', () => ({ store: 'redlock', node: 'a:1', state, reason: 'why' }));
    expect(lines).toEqual([
      'warn Redis (a) forgets [A_CODE]',
      'warn Node a:1 of lock store "redlock" is suspended: why',
      'info Node a:1 of lock store "redlock" has recovered: why',
    ]);
  });

  it('says each eviction, with who did it, and leaves none out', async () => {
    const { locks, taken } = logged({ redactKey: (key) => key.replace(PERSON, '…') });
    const evict = async (key: string) => {
      const { fencingToken } = await locks.acquire(key);
      const reason = `${key} is\nstuck`;
      await locks.evict(key, { fencingToken, grace: 0, actor: 'ada', via: 'dashboard', reason }); // prettier-ignore
    };
    await evict(`user:${PERSON}`);
    await evict(`mail:${PERSON}`);
    const lines = taken().filter((line) => line.startsWith('warn'));
    const by = `"[^"]+:${process.pid}:\\d+" by "ada" with "dashboard": `;
    expect(lines).toEqual([
      expect.stringMatching(
        `^warn Lock "user:…" was taken from its holder ${by}"user:… is\\\\nstuck"$`,
      ),
      expect.stringMatching(
        `^warn Lock "mail:…" was taken from its holder ${by}"mail:… is\\\\nstuck"$`,
      ),
    ]);
  });

  it('takes a logger that has log and no info, and bears one that throws', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const locks = new LockService(new MemoryLockStore());
    const log = jest.fn();
    const error = () => {
      throw new Error('the disk is full');
    };
    const stop = logLocks(locks, { log, warn: error, error });
    locks.events.publish('node', () => ({
      store: 'a',
      node: 'n',
      state: 'recovered',
      reason: 'r',
    }));
    expect(log).toHaveBeenCalledTimes(1);
    locks.events.publish('warning', () => ({ store: 'a', code: 'B', message: 'c' }));
    expect(warned).toHaveBeenCalledWith('The logger of locks threw: the disk is full');
    stop();
    expect(locks.events.eventNames()).toEqual([]);
    warned.mockRestore();
  });

  it.each<[string, Partial<LockLogger>, LockLogOptions]>([
    ['a logger', { error: () => Promise.reject(new Error('the disk is full')) as never }, {}],
    ['a redactKey', {}, { redactKey: () => Promise.reject(new Error('no salt')) as never }],
  ])('bears %s that is async and rejects', async (_, part, options) => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const store = new FailingStore();
    const locks = new LockService(store, { waitTimeout: 0 });
    const said: string[] = [];
    const say = (line: string) => void said.push(line);
    const stop = logLocks(locks, { error: say, warn: say, ...part }, options);
    store.isDown = true;
    await rejectionOf(locks.acquire(PERSON));
    await new Promise((resolve) => setTimeout(resolve, 1)); // rejections are found unhandled before timers
    expect(unhandled).not.toHaveBeenCalled();
    expect(said.join()).not.toContain(PERSON);
    expect(said.length + warned.mock.calls.length).toBe(1);
    process.off('unhandledRejection', unhandled);
    stop();
    warned.mockRestore();
  });

  it('refuses what is no logger', () => {
    const locks = new LockService(new MemoryLockStore());
    expect(() => logLocks(locks, {} as never)).toThrow(
      'logLocks expects a logger with error and warn',
    );
  });
});

it('says who drains the service, and why', async () => {
  const { locks, taken } = logged();
  await locks.drain({ actor: 'ada', reason: 'roll-out' });
  expect(taken()).toEqual([
    expect.stringMatching(
      /^warn Locks of "[^"]+:\d+:\d+" are being drained by "ada" with "code": "roll-out"$/,
    ),
  ]);
});
