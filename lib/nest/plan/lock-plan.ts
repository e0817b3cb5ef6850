import type { LockTimeoutError } from '../../core/contract/lock-errors.js';
import type { LockOptions } from '../../core/options/lock-options.js';
import type { MethodKey } from '../keys/method-key.js';

/** The kind of a method's result, which says how long its lock is held: until the promise settles, or the stream ends. */
export type ReturnKind = 'promise' | 'observable' | 'iterable';

/** The answer in place of the method when its key stays held. */
export type OnTimeout = 'throw' | 'skip' | ((error: LockTimeoutError, ...args: any[]) => unknown);

/** Everything that was decided about a decorated method when its class was defined. */
export interface LockPlan {
  /** `@DistributedLock on OrdersService.pay`, for messages. */
  readonly label: string;
  /** Name of the method. */
  readonly property: string | symbol;
  /** Name of the instance that locks. */
  readonly locks: string | undefined;
  /** Property through which the method's instance has the `LockService` of that name. */
  readonly locksProperty: symbol;
  readonly key: MethodKey;
  readonly options: LockOptions | undefined;
  readonly onTimeout: OnTimeout;
  readonly before: 'pipes' | undefined;
  readonly returns: ReturnKind;
  /** Parameters that get the `Lock`. */
  readonly lockParameters: readonly number[];
}

const PLAN = Symbol.for('nest-holdfast:plan');

export function setLockPlan(method: Function, plan: LockPlan): void {
  Reflect.defineMetadata(PLAN, plan, method);
}

export function lockPlanOf(method: Function): LockPlan | undefined {
  return Reflect.getMetadata(PLAN, method) as LockPlan | undefined;
}
