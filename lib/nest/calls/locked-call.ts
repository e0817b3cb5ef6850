import { defer, finalize, isObservable, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { eitherOf } from '../../core/async/abort-signals.js';
import { promiseTry } from '../../core/store/store-call.js';
import type { LockPlan } from '../plan/lock-plan.js';
import { HandlerScope } from './handler-scope.js';
import { invocations } from './invocation.js';
import type { Invocation } from './invocation.js';
import type { CallScope } from '../transports/locked-iterator.js';
import {
  lockedIterable,
  lockedObservable,
  observableOnceLocked,
} from '../transports/locked-stream.js';
import { checkInstance, checkScope, locksOf } from './locks-of.js';
import { adviceForStreams } from '../plan/return-kind.js';
import { insteadOfHandled, insteadOfResult, insteadOfStream } from './on-timeout.js';
import { requestData } from '../transports/request-data.js';
import { isAsyncIterable, unreadBody } from '../transports/sent-body.js';

export type Method = (this: object, ...args: any[]) => any;

/** One call of a decorated method. */
export class LockedCall {
  readonly #invocation: Invocation | undefined;

  constructor(
    readonly method: Method,
    readonly plan: LockPlan,
    readonly self: object,
    readonly args: unknown[],
  ) {
    checkInstance(self, plan.label);
    const invocation = invocations.getStore();
    const exposed = (self as Record<string | symbol, unknown>)[plan.property];
    if (invocation?.take(exposed)) this.#invocation = invocation;
    else if (plan.before)
      throw new TypeError(
        `${plan.label}: with before: 'pipes' only Nest may call it, as a handler`,
      );
  }

  /** Whether Nest calls it with the request of a client. */
  get isHandler(): boolean {
    return this.#invocation !== undefined;
  }

  promise(): Promise<unknown> {
    const result = this.#promise();
    const invocation = this.#invocation;
    return invocation ? result.finally(() => invocation.giveBack()) : result;
  }

  observable(): Observable<unknown> {
    const invocation = this.#invocation;
    if (!invocation) return this.#observable();
    const giveBack = () => invocation.giveBack();
    try {
      return this.#observable().pipe(tap({ error: giveBack }), finalize(giveBack));
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  async *iterable(): AsyncGenerator<unknown, unknown, unknown> {
    let scope: CallScope;
    try {
      scope = await this.#enter();
    } catch (error) {
      const result = insteadOfResult(this.#refused, error);
      return isAsyncIterable(result) ? yield* result : result;
    }
    return yield* lockedIterable(scope, () => this.#work(scope) as AsyncIterable<unknown>);
  }

  async #promise(): Promise<unknown> {
    const outer = this.#outer;
    if (outer) {
      outer.lock.assertHeld(); // the caller may have left while pipes were at work
      return outer.during(async () => outer.send(await this.#work(outer)));
    }
    let scope: CallScope;
    try {
      scope = checkScope(await this.#enter(), this.plan.label);
    } catch (error) {
      return insteadOfHandled(this.#refused, error);
    }
    let result: unknown;
    try {
      const returned = await scope.run(() => this.#work(scope));
      result = this.#delivered(scope, returned);
      if (isObservable(result)) return result; // it leaves the scope when it ends
    } catch (error) {
      await scope.leave();
      throw error;
    }
    await scope.leave();
    scope.assertKept(result);
    return result;
  }

  #observable(): Observable<unknown> {
    const outer = this.#outer;
    if (outer) {
      outer.lock.assertHeld();
      return this.#emitted(outer);
    }
    return observableOnceLocked(
      (unsubscribed) => promiseTry(() => this.#enter(unsubscribed)),
      (scope) => defer(() => this.#emitted(scope)),
      (error) => insteadOfStream(this.#refused, error),
    );
  }

  /** The lock that the interceptor holds around this call. */
  get #outer(): HandlerScope | undefined {
    return this.#invocation?.scope;
  }

  #enter(unsubscribed?: AbortSignal): Promise<CallScope> {
    const invocation = this.#invocation;
    const { label, locksProperty, options } = this.plan;
    const locks = locksOf(this.self, label, locksProperty);
    const keys = this.plan.key(this.args, () => this.#request());
    if (invocation) {
      const wait = (signal: AbortSignal) => locks.enterRequest(keys, { ...options, signal });
      return invocation.enter(this.plan, wait);
    }
    if (!unsubscribed) return locks.enter(keys, options);
    const ended = eitherOf(options?.signal, unsubscribed);
    const entered = locks.enter(keys, { ...options, signal: ended.signal });
    return entered.finally(() => ended.forget());
  }

  #work(scope: CallScope): unknown {
    const args = [...this.args];
    for (const index of this.plan.lockParameters) args[index] = scope.lock;
    const returned = this.method.apply(this.self, args);
    if (scope instanceof HandlerScope) scope.returned(returned);
    return returned;
  }

  #emitted(scope: CallScope): Observable<unknown> {
    const source = this.#work(scope) as Observable<unknown>;
    return scope instanceof HandlerScope ? (scope.send(source) as Observable<unknown>) : source;
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

  /** Nest sends what a handler promises, and subscribes to it. Others would read a stream without the lock. */
  #delivered(scope: CallScope, result: unknown): unknown {
    if (scope instanceof HandlerScope) {
      const sent = scope.send(result);
      if (!isObservable(sent)) return sent;
      this.#invocation?.streams.add(scope);
      return lockedObservable(scope, () => sent);
    }
    if (isObservable(result)) {
      throw new TypeError(
        `${this.plan.label} returned an Observable inside a promise: ${adviceForStreams(this.self, this.plan)}`,
      );
    }
    if (isAsyncIterable(result)) {
      throw new TypeError(
        `${this.plan.label} returned an async iterable: set returns: 'iterable', or write it as an async generator`,
      );
    }
    const body = unreadBody(result);
    if (body === undefined) return result;
    throw new TypeError(
      `${this.plan.label} returned ${body}, which is sent under the lock only where Nest calls the method itself, as a handler: ` +
        `put the decorator above others that replace the method, or read ${body} inside it`,
    );
  }
}
