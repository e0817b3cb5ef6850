import { defer, isObservable } from 'rxjs';
import type { Observable } from 'rxjs';
import { eitherOf } from '../../core/abort-signals.js';
import type { LockScope } from '../../core/lock-scope.js';
import type { LockService } from '../../core/lock.service.js';
import { promised } from '../../core/store-call.js';
import { invocations } from './invocation.js';
import type { Invocation } from './invocation.js';
import type { LockPlan } from '../decorators/lock-plan.js';
import { lockedIterable, lockedObservable, observableOnceLocked } from './locked-stream.js';
import { locksProperty } from '../module/lock-tokens.js';
import { insteadOfResult, insteadOfStream } from './on-timeout.js';
import { requestData } from './request-data.js';

type Method = (this: object, ...args: any[]) => any;

/** Puts the lock around `method`: the one place that locks, after guards and pipes. */
export function lockedMethod(method: Method, property: string | symbol, plan: LockPlan): Method {
  const begin = (self: object, args: unknown[]) =>
    new LockedCall(method, property, plan, self, args);
  switch (plan.returns) {
    case 'observable':
      return function (...args) {
        return begin(this, args).observable();
      };
    case 'iterable':
      return async function* (...args) {
        return yield* begin(this, args).iterable();
      };
    default:
      return function (...args) {
        return promised(() => begin(this, args).promise());
      };
  }
}

/** One call of a decorated method. */
class LockedCall {
  readonly #invocation: Invocation | undefined;

  constructor(
    readonly method: Method,
    property: string | symbol,
    readonly plan: LockPlan,
    readonly self: object,
    readonly args: unknown[],
  ) {
    checkInstance(self, plan.label);
    const invocation = invocations.getStore();
    const exposed = (self as Record<string | symbol, unknown>)[property];
    if (invocation?.take(exposed)) this.#invocation = invocation;
    else if (plan.before)
      throw new TypeError(
        `${plan.label}: with before: 'pipes' only Nest may call it, as a handler`,
      );
  }

  async promise(): Promise<unknown> {
    if (this.#outer) return this.#work(this.#outer);
    let scope: LockScope;
    try {
      scope = await this.#enter();
    } catch (error) {
      return insteadOfResult(this.#refused, error);
    }
    let result: unknown;
    try {
      result = await scope.run(() => this.#promisable(this.#work(scope)));
      if (isObservable(result)) return this.#promisedStream(scope, result);
    } catch (error) {
      await scope.leave();
      throw error;
    }
    await scope.leave();
    scope.assertKept(result);
    return result;
  }

  observable(): Observable<unknown> {
    if (this.#outer) return this.#work(this.#outer) as Observable<unknown>;
    return observableOnceLocked(
      (unsubscribed) => promised(() => this.#enter(unsubscribed)),
      (scope) => defer(() => this.#work(scope) as Observable<unknown>),
      (error) => insteadOfStream(this.#refused, error),
    );
  }

  async *iterable(): AsyncGenerator<unknown, unknown, unknown> {
    if (this.#outer) return yield* this.#work(this.#outer) as AsyncIterable<unknown>;
    let scope: LockScope;
    try {
      scope = await this.#enter();
    } catch (error) {
      const result = insteadOfResult(this.#refused, error);
      return isAsyncIterable(result) ? yield* result : result;
    }
    return yield* lockedIterable(scope, () => this.#work(scope) as AsyncIterable<unknown>);
  }

  /** The lock that the interceptor holds around this call. */
  get #outer(): LockScope | undefined {
    return this.#invocation?.scope;
  }

  #enter(unsubscribed?: AbortSignal): Promise<LockScope> {
    const invocation = this.#invocation;
    const locks = locksOf(this.self, this.plan.label, this.plan.locks);
    const keys = this.plan.key(this.args, () => this.#request());
    const { options } = this.plan;
    const until = (signal: AbortSignal) => locks.enter(keys, { ...options, signal });
    if (invocation) return invocation.whileClientWaits(options?.signal, until);
    if (!unsubscribed) return locks.enter(keys, options);
    const ended = eitherOf(options?.signal, unsubscribed);
    return until(ended.signal).finally(() => ended.forget());
  }

  #work(scope: LockScope): unknown {
    const args = [...this.args];
    for (const index of this.plan.lockParameters) args[index] = scope.lock;
    return this.method.apply(this.self, args);
  }

  get #refused() {
    return {
      plan: this.plan,
      self: this.self,
      args: this.args,
      context: this.#invocation?.context,
    };
  }

  #request(): unknown {
    if (this.#invocation) return requestData(this.#invocation.context);
    throw new TypeError(
      `${this.plan.label}: <request.…> is known only where Nest calls the method itself as a handler; pass what the key needs as an argument`,
    );
  }

  /** Callers that iterate over the result would get a promise instead, and its lock would be released before they start. */
  #promisable(result: unknown): unknown {
    if (this.#invocation || !isAsyncIterable(result)) return result;
    throw new TypeError(
      `${this.plan.label} returned an async iterable: set returns: 'iterable', or write it as an async generator`,
    );
  }

  /** Nest subscribes to what a handler promises; elsewhere nobody may, and the lock would be held for ever. */
  #promisedStream(scope: LockScope, source: Observable<unknown>): Observable<unknown> {
    if (!this.#invocation) {
      throw new TypeError(
        `${this.plan.label} returned an Observable inside a promise: annotate its return type as Observable<…>, or set returns: 'observable'`,
      );
    }
    this.#invocation.streams.add(scope);
    return lockedObservable(scope, () => source);
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof (value as Partial<AsyncIterable<unknown>> | null)?.[Symbol.asyncIterator] === 'function'
  );
}

function checkInstance(self: unknown, label: string): asserts self is Record<symbol, unknown> {
  if (typeof self === 'object' && self !== null) return;
  throw new TypeError(`${label} was called without its instance: call it as instance.method()`);
}

/** The service that Nest has given to the instance of a decorated method. */
export function locksOf(self: unknown, label: string, name: string | undefined): LockService {
  checkInstance(self, label);
  const locks = self[locksProperty(name)] as LockService | undefined;
  if (locks) return locks;
  throw new Error(
    `${label}: this instance has no LockService: Nest did not make it, or its application was closed. Let Nest instantiate the class, or return ` +
      'the instance from a provider of a module that sees DistributedLockModule and is not loaded lazily',
  );
}
