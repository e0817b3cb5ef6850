import { inspect } from 'node:util';
import {
  LockDeadlockError,
  LockError,
  LockKeyError,
  LockLostError,
  LockStoreError,
  LockTimeoutError,
} from 'nest-holdfast/core';
import type { LockLostReason } from 'nest-holdfast/core';

describe('every lock error', () => {
  it.each([
    [new LockTimeoutError('k', 5), 'LockTimeoutError', 'LOCK_TIMEOUT'],
    [new LockLostError('k', 'gone'), 'LockLostError', 'LOCK_LOST'],
    [new LockStoreError('k', 'redis', 'down'), 'LockStoreError', 'LOCK_STORE_FAILED'],
    [new LockKeyError('bad', 'k'), 'LockKeyError', 'LOCK_KEY_INVALID'],
    [new LockDeadlockError('bad', 'k'), 'LockDeadlockError', 'LOCK_DEADLOCK'],
  ])('is an Error with a name, a code and a key: %s', (error, name, code) => {
    expect(error).toBeInstanceOf(LockError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name, code, key: 'k' });
    expect(String(error)).toBe(`${name}: ${error.message}`);
    expect(error.stack).toContain('lock-errors.spec');
  });

  it('may have a cause', () => {
    const cause = new Error('down');
    expect(new LockStoreError('k', 'redis', 'down', { cause }).cause).toBe(cause);
    expect(new LockTimeoutError('k', 5, { cause }).cause).toBe(cause);
    expect(new LockLostError('k', 'gone', { cause }).cause).toBe(cause);
    expect(new LockKeyError('bad', 'k', { cause }).cause).toBe(cause);
  });
});

it('LockTimeoutError tells how long was waited, and how often was tried', () => {
  expect(new LockTimeoutError('k', 0).message).toBe(
    'Lock "k" was not acquired: it is held (attempts: 1)',
  );
  expect(new LockTimeoutError('k', 250, { attempts: 3 }).message).toBe(
    'Lock "k" was not acquired within 250 ms: it is held (attempts: 3)',
  );
  expect(new LockTimeoutError('k', 250).waitTimeout).toBe(250);
  expect(new LockTimeoutError('k', 5, { attempts: 2, permits: 1 }).message).toBe(
    'Lock "k" was not acquired within 5 ms: its permit is not free (attempts: 2)',
  );
  expect(new LockTimeoutError('k', 5, { attempts: 1, permits: Infinity }).message).toBe(
    'Lock "k" was not acquired within 5 ms: it is held (attempts: 1)',
  );
});

describe('the cause of a LockStoreError', () => {
  it('is the error of the driver without what was sent', () => {
    const command = { name: 'auth', args: ['hunter2'] };
    const cause = Object.assign(new Error('WRONGPASS'), { code: 'WRONGPASS', command });
    const error = new LockStoreError('k', 'redis', 'at redis://:hunter2@h', { cause });
    expect(error.cause).toMatchObject({ message: 'WRONGPASS', code: 'WRONGPASS' });
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('hunter2');
    expect(error.message).toBe('Lock store "redis" failed for "k": at redis://***@h');
  });

  it('is missing where there is none', () => {
    expect('cause' in new LockStoreError('k', 'redis', 'x', { cause: undefined })).toBe(false);
  });

  it('may be another lock error, as it is', () => {
    const cause = new LockLostError('k', 'expired', { result: 1 });
    expect(new LockStoreError('k', 'redis', 'x', { cause }).cause).toBe(cause);
  });
});

it('LockStoreError names the store', () => {
  const error = new LockStoreError('k', 'redis', 'connection refused');
  expect(error.store).toBe('redis');
  expect(error.message).toBe('Lock store "redis" failed for "k": connection refused');
});

describe('LockLostError', () => {
  it.each<[LockLostReason, string]>([
    ['expired', 'it was not extended in time'],
    ['gone', 'the store no longer has it'],
    ['session', "the store's session ended"],
    ['max-hold', 'maxHold was reached'],
    ['closed', 'its LockService was closed'],
    ['released', 'it was released'],
  ])('says why: %s', (reason, text) => {
    const error = new LockLostError('k', reason);
    expect(error.reason).toBe(reason);
    expect(error.message).toBe(`Lock "k" is no longer held: ${text}`);
  });

  it('has a result only if there is one, which may be undefined', () => {
    expect('result' in new LockLostError('k', 'gone')).toBe(false);
    expect('result' in new LockLostError('k', 'gone', { cause: 1 })).toBe(false);
    expect('result' in new LockLostError('k', 'gone', { result: undefined })).toBe(true);
    expect(new LockLostError('k', 'gone', { result: 42 }).result).toBe(42);
  });

  it('keeps its result from loggers: it may be people’s data', () => {
    const error = new LockLostError('k', 'gone', { result: { name: 'Lovelace' } });
    expect(inspect(error, { depth: Infinity })).not.toContain('Lovelace');
    expect(JSON.stringify(error)).not.toContain('Lovelace');
    expect(JSON.stringify(Object.assign({}, error))).not.toContain('Lovelace');
    expect(error.result).toEqual({ name: 'Lovelace' });
  });
});
