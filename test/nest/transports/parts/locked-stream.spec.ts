import { AsyncLocalStorage } from 'node:async_hooks';
import { NEVER, Observable, of, Subject, throwError } from 'rxjs';
import {
  lockedIterable,
  lockedObservable,
  observableOnceLocked,
} from '../../../../lib/nest/transports/locked-stream';
import type { CallScope } from '../../../../lib/nest/transports/locked-iterator';
import { deferred } from '../../../core/support/outcome';
import { settled } from '../../../stores/redlock/support/stub-quorum';

const storage = new AsyncLocalStorage<string>();

/** A scope whose lock a test loses, and what a subscriber hears of a stream under it. */
function own() {
  const abort = new AbortController();
  const leave = jest.fn().mockResolvedValue(true);
  const assertKept = jest.fn();
  const run = <T>(step: () => T): T => storage.run('inside', step);
  const scope = { lock: { signal: abort.signal }, leave, assertKept, run } as unknown as CallScope;
  const heard: unknown[] = [];
  const contexts = new Set<string | undefined>();
  const hear = (what: unknown) => {
    heard.push(what);
    contexts.add(storage.getStore());
  };
  const subscribe = (stream: Observable<unknown>) =>
    stream.subscribe({
      next: hear,
      error: (error: Error) => hear(error.message),
      complete: () => hear('done'),
    });
  return { abort, leave, assertKept, scope, heard, contexts, subscribe };
}

describe('An Observable under a lock', () => {
  it('runs inside, is heard outside, and gives the lock back before it ends', async () => {
    const { scope, leave, heard, contexts, subscribe } = own();
    const seen: unknown[] = [];
    const source = new Observable<number>((subscriber) => {
      seen.push(storage.getStore());
      subscriber.next(1);
      subscriber.complete();
    });
    leave.mockImplementation(async () => {
      heard.push('left');
      return true;
    });
    subscribe(lockedObservable(scope, () => source));
    await settled();
    expect(heard.slice(0, 3)).toEqual([1, 'left', 'done']);
    expect([seen, [...contexts]]).toEqual([['inside'], [undefined]]);
  });

  it('fails as its source does, once the lock has been given back', async () => {
    const { scope, leave, heard, subscribe } = own();
    const left = deferred<boolean>();
    leave.mockReturnValue(left.promise);
    subscribe(lockedObservable(scope, () => throwError(() => new Error('failed'))));
    await settled();
    expect(heard).toEqual([]);
    left.resolve(true);
    await settled();
    expect(heard).toEqual(['failed']);
  });

  it('fails where the lock was lost by its end', async () => {
    const { scope, assertKept, heard, subscribe } = own();
    assertKept.mockImplementation(() => {
      throw new Error('lost');
    });
    subscribe(lockedObservable(scope, () => of(1)));
    await settled();
    expect(heard).toEqual([1, 'lost']);
    expect(assertKept.mock.calls).toEqual([[undefined]]);
  });

  it('gives the lock back where its source cannot clean up', () => {
    const { scope, leave, subscribe } = own();
    const broken = () => {
      throw new Error('closed already');
    };
    const subscription = subscribe(lockedObservable(scope, () => new Observable(() => broken)));
    expect(() => subscription.unsubscribe()).toThrow('closed already');
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it('fails when the lock is lost, and unsubscribes from its source inside', async () => {
    const { scope, abort, leave, heard, contexts, subscribe } = own();
    const seen: unknown[] = [];
    const source = new Observable<number>(() => () => seen.push(storage.getStore()));
    subscribe(lockedObservable(scope, () => source));
    abort.abort(new Error('lost'));
    await settled();
    expect([heard, seen, [...contexts]]).toEqual([['lost'], ['inside'], [undefined]]);
    expect(leave).toHaveBeenCalled();
  });

  it('fails at once where the lock is lost already, and its source is not asked', () => {
    const { scope, abort, heard, subscribe } = own();
    abort.abort(new Error('lost'));
    const source = jest.fn();
    subscribe(lockedObservable(scope, source));
    expect(heard).toEqual(['lost']);
    expect(source).not.toHaveBeenCalled();
  });

  it('gives the lock back when its subscriber leaves, and hears of no loss then', async () => {
    const { scope, abort, leave, heard, subscribe } = own();
    const ended = jest.spyOn(abort.signal, 'removeEventListener');
    subscribe(lockedObservable(scope, () => NEVER)).unsubscribe();
    await settled();
    expect([leave.mock.calls.length, ended.mock.calls.length]).toEqual([1, 1]);
    abort.abort(new Error('lost'));
    expect(heard).toEqual([]);
  });
});

describe('An Observable that waits for its lock', () => {
  it('is subscribed to once it has it', async () => {
    const { scope, heard, subscribe } = own();
    const entered = deferred<CallScope>();
    const source = jest.fn((_: CallScope) => of(1));
    subscribe(observableOnceLocked(() => entered.promise, source, () => NEVER)); // prettier-ignore
    expect(source).not.toHaveBeenCalled();
    entered.resolve(scope);
    await settled();
    expect(source.mock.calls).toEqual([[scope]]);
    expect(heard).toEqual([1, 'done']);
  });

  it('is another one where it does not get it', async () => {
    const { heard, subscribe } = own();
    const instead = jest.fn(() => of('instead'));
    const error = new Error('held');
    subscribe(observableOnceLocked(() => Promise.reject(error), () => NEVER, instead)); // prettier-ignore
    await settled();
    expect(instead.mock.calls).toEqual([[error]]);
    expect(heard).toEqual(['instead', 'done']);
  });

  it('waits no longer when its subscriber leaves, and gives back what comes then', async () => {
    const { scope, leave, subscribe } = own();
    const entered = deferred<CallScope>();
    let signal!: AbortSignal;
    const source = jest.fn(() => NEVER);
    const enter = (unsubscribed: AbortSignal) => {
      signal = unsubscribed;
      return entered.promise;
    };
    subscribe(observableOnceLocked(enter, source, () => NEVER)).unsubscribe();
    expect(signal.aborted).toBe(true);
    entered.resolve(scope);
    await settled();
    expect([leave.mock.calls.length, source.mock.calls.length]).toEqual([1, 0]);
  });

  it('is no other one for a subscriber that has left', async () => {
    const { subscribe } = own();
    const entered = deferred<CallScope>();
    const instead = jest.fn(() => NEVER);
    subscribe(observableOnceLocked(() => entered.promise, () => NEVER, instead)).unsubscribe(); // prettier-ignore
    entered.reject(new Error('held'));
    await settled();
    expect(instead).not.toHaveBeenCalled();
  });

  it('leaves what it has subscribed to with its subscriber', async () => {
    const { scope, leave, subscribe } = own();
    const [source, other] = [new Subject(), new Subject()];
    const one = subscribe(observableOnceLocked(async () => scope, () => source, () => NEVER)); // prettier-ignore
    const failing = () => Promise.reject<CallScope>(new Error('held'));
    const two = subscribe(observableOnceLocked(failing, () => NEVER, () => other)); // prettier-ignore
    await settled();
    expect([source.observed, other.observed]).toEqual([true, true]);
    one.unsubscribe();
    two.unsubscribe();
    await settled();
    expect([source.observed, other.observed, leave.mock.calls.length]).toEqual([false, false, 1]);
  });
});

describe('An iterable under a lock', () => {
  it('iterates inside, and gives the lock back at its end', async () => {
    const { scope, leave } = own();
    async function* source() {
      yield storage.getStore();
      return 'result';
    }
    const values = lockedIterable(scope, source);
    expect(await values.next()).toEqual({ done: false, value: 'inside' });
    expect(leave).not.toHaveBeenCalled();
    expect(await values.next()).toEqual({ done: true, value: 'result' });
    expect(leave).toHaveBeenCalledTimes(1);
  });

  it('gives the lock back where it cannot begin', async () => {
    const { scope, leave } = own();
    const values = lockedIterable(scope, () => {
      throw new Error('failed');
    });
    await expect(values.next()).rejects.toThrow('failed');
    expect(leave).toHaveBeenCalledTimes(1);
  });
});
