import { lastValueFrom, of, toArray } from 'rxjs';
import { LockTimeoutError } from 'nest-holdfast';
import {
  insteadOfHandled,
  insteadOfResult,
  insteadOfStream,
} from '../../../../lib/nest/calls/on-timeout';
import { originOf } from '../../../../lib/nest/errors/lock-origin';
import type { LockPlan, OnTimeout } from '../../../../lib/nest/plan/lock-plan';
import { errorOf, rejectionOf } from '../../../core/support/outcome';
import { contextOf } from '../../support/fake-context';

const held = new LockTimeoutError('order:1', 0);
const planOf = (onTimeout: OnTimeout, returns: LockPlan['returns'] = 'promise') =>
  ({ onTimeout, returns, locks: 'reports' }) as LockPlan;
const info = { operation: { operation: 'subscription' }, path: {} };
const subscription = contextOf({ type: 'graphql', args: [{}, {}, {}, info] });
const sse = () => {};
Reflect.defineMetadata('__sse__', true, sse);

describe('In place of a result whose key stays held', () => {
  it('is the error, which knows its instance', () => {
    expect(errorOf(() => insteadOfResult({ plan: planOf('throw') }, held))).toBe(held);
    expect(originOf(held)).toEqual({ locks: 'reports' });
  });

  it('is nothing where the method is skipped', () => {
    expect(insteadOfResult({ plan: planOf('skip') }, held)).toBeUndefined();
  });

  it('is what a function makes of the error and the arguments, of the instance', () => {
    const self = { name: 'jobs' };
    const onTimeout = jest.fn(function (this: unknown, ...all: unknown[]) {
      return [this, ...all];
    });
    const plan = planOf(onTimeout);
    expect(insteadOfResult({ plan, self, args: [1, 2] }, held)).toEqual([self, held, 1, 2]);
    expect(insteadOfResult({ plan }, held)).toEqual([undefined, held]);
  });

  it.each<OnTimeout>(['throw', 'skip', () => 5])('is any other error as it is: %s', (onTimeout) => {
    const other = new Error('of the store');
    expect(errorOf(() => insteadOfResult({ plan: planOf(onTimeout) }, other))).toBe(other);
  });
});

describe('In place of the result of a handler', () => {
  it('is an empty iterable for a subscription', async () => {
    const result = insteadOfHandled({ plan: planOf('skip'), context: subscription }, held);
    const values: unknown[] = [];
    for await (const value of result as AsyncIterable<unknown>) values.push(value);
    expect(values).toEqual([]);
  });

  it('is the iterable of a function', () => {
    async function* values() {
      yield 1;
    }
    const own = values();
    const plan = planOf(() => own);
    expect(insteadOfHandled({ plan, context: subscription }, held)).toBe(own);
  });

  it('is nothing elsewhere', () => {
    const plan = planOf('skip');
    expect(insteadOfHandled({ plan, context: contextOf({}) }, held)).toBeUndefined();
    expect(insteadOfHandled({ plan }, held)).toBeUndefined();
  });
});

describe('In place of a stream', () => {
  const valuesOf = (call: Parameters<typeof insteadOfStream>[0], error: unknown = held) =>
    lastValueFrom(insteadOfStream(call, error).pipe(toArray()));

  it.each([
    ['an Observable of a service', { plan: planOf('skip', 'observable') }, []],
    ['a promise of a service', { plan: planOf('skip') }, [undefined]],
    ['an Observable of a gateway', { plan: planOf('skip', 'observable'), context: contextOf({ type: 'ws' }) }, []], // prettier-ignore
    ['server-sent events', { plan: planOf('skip', 'observable'), context: contextOf({ handler: sse }) }, []], // prettier-ignore
    ['an Observable over HTTP, which needs one value', { plan: planOf('skip', 'observable'), context: contextOf({}) }, [undefined]], // prettier-ignore
    ['server-sent events of a promise', { plan: planOf('skip'), context: contextOf({ handler: sse }) }, []], // prettier-ignore
  ])('is as many values as its reader needs: %s', async (_, call, expected) => {
    expect(await valuesOf(call)).toStrictEqual(expected); // a list of `undefined` is not empty
  });

  it('is what a function gives: an Observable, a promise or a value', async () => {
    expect(await valuesOf({ plan: planOf(() => of(1, 2)) })).toEqual([1, 2]);
    expect(await valuesOf({ plan: planOf(() => Promise.resolve(3)) })).toEqual([3]);
    expect(await valuesOf({ plan: planOf(() => 4) })).toEqual([4]);
  });

  it('fails with any other error, also where it is skipped', async () => {
    const other = new Error('of the store');
    const plan = planOf('skip', 'observable');
    expect(await rejectionOf(valuesOf({ plan }, other))).toBe(other);
    expect(await rejectionOf(valuesOf({ plan: planOf('throw', 'observable') }))).toBe(held);
  });
});
