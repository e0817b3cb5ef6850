import 'reflect-metadata';
import { UseInterceptors } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { withLabel } from '../../core/text/with-label.js';
import { DEFAULT_LOCK_OPTIONS, resolveLockOptions } from '../../core/options/lock-options.js';
import type { LockOptions } from '../../core/options/lock-options.js';
import { named } from '../../core/options/lock-name.js';
import { LOCK_RULES } from '../../core/options/lock-rules.js';
import { a, aName, checkOptions, oneOf } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { carryOver, decoratedMethod, injectLocks, labelOf } from './decorated-method.js';
import { DistributedLockInterceptor } from '../calls/distributed-lock.interceptor.js';
import { lockPlanOf, setLockPlan } from '../plan/lock-plan.js';
import { locksProperty } from '../plan/lock-tokens.js';
import type { LockPlan, OnTimeout, ReturnKind } from '../plan/lock-plan.js';
import { lockedMethod } from '../calls/locked-method.js';
import { methodKey } from '../keys/method-key.js';
import type { LockKeySource } from '../keys/method-key.js';
import { parameterMarks } from '../keys/parameter-marks.js';
import { refuseIterableMessages, returnKind } from '../plan/return-kind.js';

export interface DistributedLockOptions extends LockOptions {
  /** Name of the instance that locks, as given to `forRoot({ name })`. */
  readonly locks?: string | undefined;
  /**
   * When the key stays held: reject with `LockTimeoutError`, skip the method (its result is `undefined`; a stream ends), or
   * call this with the error and the arguments, `this` being the instance, and give its result. With `before: 'pipes'` there
   * is only the error.
   * @default 'throw'
   */
  readonly onTimeout?: OnTimeout | undefined;
  /** Locks a handler before its pipes run. The key then comes from the raw `<request.…>`. */
  readonly before?: 'pipes' | undefined;
  /** The kind of the method's result, where its annotation does not tell. */
  readonly returns?: ReturnKind | undefined;
}

/** The results that a decorated method may have. */
type Lockable = Promise<unknown> | Observable<unknown> | AsyncIterable<unknown>;

type AnyMethod = (...args: any[]) => unknown;

/**
 * Nothing, for a method that can be locked; else a type that no descriptor has, which the compiler prints as the reason. The key
 * function must be CALLABLE with the method's arguments: it may read fewer, and accept wider types.
 */
type Fits<Args extends unknown[], Method extends AnyMethod> = [ReturnType<Method>] extends [
  Lockable,
]
  ? Parameters<Method> extends readonly [...Args, ...unknown[]]
    ? unknown
    : ['the key function cannot be called with the arguments of the method', Parameters<Method>]
  : [
      'a locked method must return a promise, an Observable or an async iterable, not',
      ReturnType<Method>,
    ];

export type DistributedLockDecorator<Args extends unknown[]> = <Method extends AnyMethod>(
  target: object,
  property: string | symbol,
  descriptor: TypedPropertyDescriptor<Method> & Fits<Args, Method>,
) => void;

/** Of `@DistributedLock`. */
export const DECORATOR_RULES: OptionRules<DistributedLockOptions> = {
  ...LOCK_RULES,
  onTimeout: a(
    "'throw', 'skip' or a function",
    (value) => value === 'throw' || value === 'skip' || typeof value === 'function',
  ),
  before: oneOf('pipes'),
  returns: oneOf('promise', 'observable', 'iterable'),
  locks: aName,
};

/** The differences between `@DistributedLock` and `@Semaphore`. */
interface LockDecoratorKind {
  /** For messages. */
  readonly name: string;
  /** `@DistributedLock` has one more, and none that it needs. */
  readonly rules: OptionRules<Omit<DistributedLockOptions, 'mode'>>;
}

/** The common part of `@DistributedLock` and `@Semaphore`. */
export function lockDecorator<Args extends unknown[]>(
  kind: LockDecoratorKind,
  key: LockKeySource<Args>,
  options: DistributedLockOptions = {},
): DistributedLockDecorator<Args> {
  return (target, property, descriptor) => {
    const label = labelOf(kind.name, target, property);
    checkOptions(label, options, kind.rules, '{ ttl: 30_000, waitTimeout: 5_000 }');
    const method = decoratedMethod(label, target, descriptor);
    if (lockPlanOf(method)) {
      throw new TypeError(`${label}: the method is locked already; give several keys as a list`);
    }
    const plan = planFor(label, key as LockKeySource<never[]>, options, target, property, method);
    const locked = lockedMethod(method as never, plan);
    carryOver(method, locked);
    setLockPlan(locked, plan);
    descriptor.value = locked as never;
    injectLocks(target, plan.locks);
    UseInterceptors(DistributedLockInterceptor)(target, property, descriptor);
  };
}

function planFor(
  label: string,
  source: LockKeySource<never[]>,
  decoratorOptions: DistributedLockOptions,
  target: object,
  property: string | symbol,
  method: Function,
): LockPlan {
  const { locks, onTimeout = 'throw', before, returns, ...given } = decoratorOptions;
  const options = named(given, source);
  withLabel(label, () => resolveLockOptions(DEFAULT_LOCK_OPTIONS, options));
  const marks = parameterMarks(target, property);
  const kind = returns ?? returnKind(label, target, property, method);
  if (kind === 'iterable') refuseIterableMessages(label, method);
  return Object.freeze({
    label,
    property,
    locks,
    locksProperty: locksProperty(locks),
    key: methodKey(source, { label, method, marks, requestOnly: before !== undefined }),
    options: Object.keys(options).length > 0 ? Object.freeze(options) : undefined,
    onTimeout,
    before,
    returns: kind,
    lockParameters: marks.locks,
  });
}
