import 'reflect-metadata';
import { Inject, UseInterceptors } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { LockKeys } from '../core/lock-keys.js';
import { DEFAULT_LOCK_OPTIONS, resolveLockOptions } from '../core/lock-options.js';
import type { LockOptions } from '../core/lock-options.js';
import { DistributedLockInterceptor } from './distributed-lock.interceptor.js';
import { lockPlanOf, setLockPlan } from './lock-plan.js';
import type { LockPlan, OnTimeout, ReturnKind } from './lock-plan.js';
import { getLocksToken, locksProperty } from './lock-tokens.js';
import { lockedMethod } from './locked-method.js';
import { methodKey } from './method-key.js';
import type { LockKeySource } from './method-key.js';
import { parameterMarks } from './parameter-marks.js';
import { returnKind } from './return-kind.js';

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
  /** What the method returns, where its annotation does not tell. */
  readonly returns?: ReturnKind | undefined;
}

/** What a decorated method may return. */
type Lockable = Promise<unknown> | Observable<unknown> | AsyncIterable<unknown>;

/** The key function must be CALLABLE with the method's arguments: it may read fewer, and accept wider types. */
type Accepts<Args extends unknown[], Method extends (...args: any[]) => Lockable> =
  Parameters<Method> extends readonly [...Args, ...unknown[]]
    ? unknown
    : { readonly __keyFunctionCannotTakeTheMethodArguments: Parameters<Method> };

export type DistributedLockDecorator<Args extends unknown[]> = <
  Method extends (...args: any[]) => Lockable,
>(
  target: object,
  property: string | symbol,
  descriptor: TypedPropertyDescriptor<Method> & Accepts<Args, Method>,
) => void;

/**
 * Runs the method under a lock: one at a time per key, across every process.
 *
 * ```ts
 * @DistributedLock('order:<id>')
 * async pay(id: string) {}
 * ```
 *
 * `<id>` is the parameter `id`, `<order.customer.id>` a path into it, `<0>` a position, `<request.params.id>` the request of
 * a handler; `:lower`, `:trim` and `:int` filter. Several keys are taken all or none. Throws `TypeError` when the class is
 * defined if the key names nothing. The call rejects as `LockService.withLock` does.
 */
export function DistributedLock(
  key: string | readonly string[],
  options?: DistributedLockOptions,
): DistributedLockDecorator<[]>;
export function DistributedLock<Args extends unknown[]>(
  key: (...args: Args) => LockKeys,
  options?: DistributedLockOptions,
): DistributedLockDecorator<Args>;
export function DistributedLock(
  key: LockKeySource<never[]>,
  options: DistributedLockOptions = {},
): DistributedLockDecorator<never[]> {
  return (target, property, descriptor) => {
    const method = decoratedMethod(target, property, descriptor);
    const plan = planFor(key, options, target, property, method);
    const locked = lockedMethod(method as never, property, plan);
    carryOver(method, locked);
    setLockPlan(locked, plan);
    descriptor.value = locked as never;
    injectLocks(target, plan.locks);
    UseInterceptors(DistributedLockInterceptor)(target, property, descriptor);
  };
}

function decoratedMethod(
  target: object,
  property: string | symbol,
  descriptor: PropertyDescriptor | undefined,
): Function {
  const name = `@DistributedLock on ${labelOf(target, property)}`;
  if (typeof target === 'function') {
    throw new TypeError(
      `${name}: a static method has no instance to get the lock from; use LockService.withLock`,
    );
  }
  const method = descriptor?.value as unknown;
  if (typeof method !== 'function') {
    throw new TypeError(`${name}: only methods can be locked, not accessors or properties`);
  }
  if (lockPlanOf(method)) {
    throw new TypeError(`${name}: the method is locked already; give several keys as a list`);
  }
  return method;
}

function planFor(
  source: LockKeySource<never[]>,
  decoratorOptions: DistributedLockOptions,
  target: object,
  property: string | symbol,
  method: Function,
): LockPlan {
  const { locks, onTimeout = 'throw', before, returns, ...options } = decoratorOptions;
  const label = `@DistributedLock on ${labelOf(target, property)}`;
  resolveLockOptions(DEFAULT_LOCK_OPTIONS, options);
  checkChoice(label, 'onTimeout', onTimeout, ['throw', 'skip'], typeof onTimeout === 'function');
  checkChoice(label, 'before', before, ['pipes', undefined]);
  checkChoice(label, 'returns', returns, ['promise', 'observable', 'iterable', undefined]);
  const marks = parameterMarks(target, property);
  return Object.freeze({
    label,
    locks,
    key: methodKey(source, { label, method, marks, requestOnly: before !== undefined }),
    options: Object.keys(options).length > 0 ? Object.freeze(options) : undefined,
    onTimeout,
    before,
    returns: returns ?? returnKind(label, target, property, method),
    lockParameters: marks.locks,
  });
}

function checkChoice(
  label: string,
  option: string,
  value: unknown,
  choices: readonly (string | undefined)[],
  isFine = false,
): void {
  if (isFine || choices.includes(value as string)) return;
  const expected = choices.filter((each) => each !== undefined).join("' or '");
  throw new TypeError(`${label}: ${option} must be '${expected}', got ${String(value)}`);
}

/** Routes, guards, schedules and documentation hang on the function. */
function carryOver(from: Function, to: Function): void {
  for (const key of Reflect.getMetadataKeys(from)) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, from), to);
  }
  const { prototype: _, ...properties } = Object.getOwnPropertyDescriptors(from);
  Object.defineProperties(to, properties as PropertyDescriptorMap);
}

/** Nest's injector fills the property for every instance it makes, with the service of that application. */
function injectLocks(target: object, locks: string | undefined): void {
  const property = locksProperty(locks);
  if (property in target) return;
  Object.defineProperty(target, property, {
    configurable: true,
    get: () => undefined,
    set(this: object, service: unknown) {
      Object.defineProperty(this, property, { value: service, configurable: true, writable: true });
    },
  });
  Inject(getLocksToken(locks))(target, property);
}

function labelOf(target: object, property: string | symbol): string {
  const owner = typeof target === 'function' ? target.name : target.constructor.name;
  return `${owner}.${String(property)}`;
}
