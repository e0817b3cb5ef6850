import { LockedIterator } from '../../../../lib/nest/transports/locked-iterator';
import type { CallScope } from '../../../../lib/nest/transports/locked-iterator';
import { deferred, rejectionOf, watch } from '../../../core/support/outcome';
import { settled } from '../../../stores/redlock/support/stub-quorum';

type Step = IteratorResult<unknown, unknown>;

/** A scope that counts the steps inside, and a source that does what a test says. */
function own(source: Partial<AsyncIterator<unknown, unknown>> = {}) {
  let runs = 0;
  const scope = {
    run: <T>(step: () => T): T => {
      runs++;
      return step();
    },
    assertKept: jest.fn(),
  };
  const next = jest.fn<Promise<Step>, [unknown?]>(async () => ({ done: false, value: 1 }));
  const all = { next, ...source };
  const iterator = new LockedIterator(
    scope as unknown as CallScope,
    all as AsyncIterator<unknown, unknown>,
  );
  const ended = watch(iterator.ended);
  return { scope, next, iterator, ended, runs: () => runs };
}

describe('An iterator under a lock', () => {
  it('hands what it is given to the source, inside', async () => {
    const { iterator, next, scope, ended, runs } = own();
    expect(await iterator.next('sent')).toEqual({ done: false, value: 1 });
    expect(next.mock.calls).toEqual([['sent']]);
    expect(scope.assertKept.mock.calls).toEqual([[1]]);
    expect([runs(), ended.status]).toEqual([1, 'pending']);
    expect(iterator[Symbol.asyncIterator]()).toBe(iterator);
  });

  it('has ended once the source has, and no step runs any more', async () => {
    const first = deferred<Step>();
    const answers = [first.promise, Promise.resolve<Step>({ done: true, value: 'result' })];
    const { iterator, ended } = own({ next: () => answers.shift()! });
    const slow = iterator.next();
    expect(await iterator.next()).toEqual({ done: true, value: 'result' });
    await settled();
    expect(ended.status).toBe('pending');
    first.resolve({ done: false, value: 1 });
    await slow;
    await settled();
    expect(ended.status).toBe('fulfilled');
  });

  it('has ended when a step fails, also one that throws at once', async () => {
    const failing = own({ next: () => Promise.reject(new Error('failed')) });
    expect((await rejectionOf(failing.iterator.next())).message).toBe('failed');
    await settled();
    expect(failing.ended.status).toBe('fulfilled');
    const throwing = own({
      next: () => {
        throw new Error('thrown');
      },
    });
    expect((await rejectionOf(throwing.iterator.next())).message).toBe('thrown');
  });

  it('returns through the source, with what a promise resolves to', async () => {
    const close = jest.fn(async (value: unknown) => ({ done: true, value }));
    const { iterator, ended } = own({ return: close });
    expect(await iterator.return(Promise.resolve('x'))).toEqual({ done: true, value: 'x' });
    expect(close.mock.calls).toEqual([['x']]);
    await settled();
    expect(ended.status).toBe('fulfilled');
  });

  it('returns also where the source cannot', async () => {
    const { iterator, ended } = own();
    expect(await iterator.return('x')).toEqual({ done: true, value: 'x' });
    await settled();
    expect(ended.status).toBe('fulfilled');
  });

  it('is disposed of by a return', async () => {
    const close = jest.fn(async () => ({ done: true, value: undefined }));
    const { iterator } = own({ return: close });
    await iterator[Symbol.asyncDispose]();
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('throws into the source', async () => {
    const { iterator, ended } = own({ throw: async (error) => ({ done: false, value: error }) });
    expect(await iterator.throw('e')).toEqual({ done: false, value: 'e' });
    await settled();
    expect(ended.status).toBe('pending');
  });

  it.each([
    ['closes a source that takes no error', jest.fn()],
    ['throws also where the source cannot be closed', undefined],
  ])('%s, and throws', async (_, close) => {
    const { iterator, ended } = own({ return: close });
    const error = new Error('thrown in');
    expect(await rejectionOf(iterator.throw(error))).toBe(error);
    if (close) expect(close).toHaveBeenCalledTimes(1);
    await settled();
    expect(ended.status).toBe('fulfilled');
  });

  it('fails once the lock is lost, when it has closed the source inside', async () => {
    const close = jest.fn().mockRejectedValue(new Error('the loss comes first'));
    const { iterator, scope, ended, runs } = own({ return: close });
    const lost = new Error('lost');
    scope.assertKept.mockImplementation(() => {
      throw lost;
    });
    expect(await rejectionOf(iterator.next())).toBe(lost);
    expect([close.mock.calls.length, runs()]).toEqual([1, 2]);
    await settled();
    expect(ended.status).toBe('fulfilled');
  });

  it('fails once the lock is lost, and closes no source that has ended, or cannot be closed', async () => {
    const close = jest.fn();
    const over = own({ return: close, next: async () => ({ done: true, value: 1 }) });
    const lost = new Error('lost');
    const fail = () => {
      throw lost;
    };
    over.scope.assertKept.mockImplementation(fail);
    expect(await rejectionOf(over.iterator.next())).toBe(lost);
    expect(close).not.toHaveBeenCalled();
    const other = own();
    other.scope.assertKept.mockImplementation(fail);
    expect(await rejectionOf(other.iterator.next())).toBe(lost);
  });
});
