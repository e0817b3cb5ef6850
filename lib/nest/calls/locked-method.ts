import { promiseTry } from '../../core/store/store-call.js';
import type { LockPlan } from '../plan/lock-plan.js';
import { resolvesField, withFieldErrors } from '../errors/field-errors.js';
import { LockedCall } from './locked-call.js';
import type { Method } from './locked-call.js';

/** Puts the lock around `method`: the one place that locks, after guards and pipes. */
export function lockedMethod(method: Method, plan: LockPlan): Method {
  const begin = (self: object, args: unknown[]) => new LockedCall(method, plan, self, args);
  switch (plan.returns) {
    case 'observable':
      return function (...args) {
        return begin(this, args).observable();
      };
    case 'iterable':
      return function (...args) {
        const call = begin(this, args);
        // Nest iterates over the result of a handler too late for an error's status.
        return call.isHandler ? call.promise() : call.iterable();
      };
    default:
      return promising(begin, plan);
  }
}

function promising(begin: (self: object, args: unknown[]) => LockedCall, plan: LockPlan): Method {
  let last: unknown;
  let isField = false;
  return function (...args) {
    return promiseTry(() => {
      const call = begin(this, args);
      // A subclass may have a field of a method that its class shares with others.
      const exposed = (this as Record<string | symbol, unknown>)[plan.property];
      if (exposed !== last) isField = resolvesField((last = exposed));
      return isField && !call.isHandler ? withFieldErrors(call.promise()) : call.promise();
    });
  };
}
