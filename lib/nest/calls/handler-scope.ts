import type { ExecutionContext } from '@nestjs/common';
import { isObservable, map, tap } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Lock } from '../../core/scope/lock.js';
import { promiseTry } from '../../core/store/store-call.js';
import { HandlerWork } from '../../http/handler-work.js';
import type { LockPlan } from '../plan/lock-plan.js';
import { clientConnection, onceClientGone } from '../transports/client-gone.js';
import {
  cutShort,
  httpResponse,
  ownResponse,
  responseOver,
  sendsItself,
} from '../transports/http-response.js';
import type { HttpResponse, Sending } from '../transports/http-response.js';
import type { CallScope } from '../transports/locked-iterator.js';
import { isSubscription } from '../transports/request-data.js';
import { isAsyncIterable, sentBody } from '../transports/sent-body.js';

/** The scope of a handler that Nest calls: it is left once what the handler returned has been sent. */
export class HandlerScope implements CallScope {
  readonly #scope: CallScope;
  readonly #context: ExecutionContext;
  readonly #label: string;
  readonly #response: HttpResponse | undefined;
  readonly #sendsItself: boolean;
  readonly #keeping = new Set<Promise<unknown>>();
  #over: Promise<void> | undefined;

  constructor(scope: CallScope, context: ExecutionContext, { label, property }: LockPlan) {
    this.#scope = scope;
    this.#context = context;
    this.#label = label;
    this.#response = httpResponse(context);
    this.#sendsItself = this.#response !== undefined && sendsItself(context.getClass(), property);
    if (this.#sendsItself) this.#keep(ownResponse(this.#response!, this.#untilOver()!));
  }

  get lock(): Lock {
    return this.#scope.lock;
  }

  run<T>(step: () => T): T {
    return this.#scope.run(step);
  }

  assertKept(result: unknown): void {
    this.#scope.assertKept(result);
  }

  /**
   * Gives what Nest is to send for a result, and keeps the lock until that has ended. Throws `TypeError` for an async iterable
   * that the transport would not send. Of an Observable, each value is a result.
   */
  send(result: unknown): unknown {
    if (isObservable(result))
      return result.pipe(
        map((value) => this.send(value)),
        this.#onceDone(),
      );
    if (!this.#response && !isSubscription(this.#context)) return this.#refuseIterable(result);
    const body = sentBody(result, this.#scope);
    if (!body) return result;
    this.#keep(body);
    this.#stopOnceUnread(body);
    return body.value;
  }

  /** The method's own return value, before Nest awaits it. */
  returned(result: unknown): void {
    if (this.#sendsItself) HandlerWork.of(this.#response!).returned(result);
  }

  /** As `work`, which keeps the lock even if its caller has stopped waiting. */
  during<T>(work: () => Promise<T>): Promise<T> {
    const result = promiseTry(work);
    this.#keepUntil(result.catch(() => {}));
    return result;
  }

  /** Never rejects. While something keeps the lock, it resolves at once, and the lock is released when that has ended. */
  leave(): Promise<boolean> {
    if (this.#keeping.size === 0) return this.#scope.leave();
    void this.#leaveOnceDone();
    return Promise.resolve(true);
  }

  async #leaveOnceDone(): Promise<void> {
    while (this.#keeping.size > 0) await Promise.all(this.#keeping);
    await this.#scope.leave();
  }

  /** Keeps the lock until it has ended, and the response is over; a lock that is lost stops it. */
  #keep({ ended, stop, failsQuietly }: Sending): void {
    const { signal } = this.lock;
    const onLost = () => {
      if (this.#response) cutShort(this.#response, failsQuietly);
      stop(signal.reason as Error);
    };
    if (signal.aborted) onLost();
    else signal.addEventListener('abort', onLost, { once: true });
    void ended.then(() => signal.removeEventListener('abort', onLost));
    this.#keepUntil(Promise.all([ended, this.#untilOver()]));
  }

  #keepUntil(end: Promise<unknown>): void {
    const ended: Promise<unknown> = end.then(() => this.#keeping.delete(ended));
    this.#keeping.add(ended);
  }

  #untilOver(): Promise<void> | undefined {
    if (this.#response) this.#over ??= responseOver(this.#response, this.#context);
    return this.#over;
  }

  /** Its receiver has left, or never came. */
  #stopOnceUnread({ ended, stop }: Sending): void {
    void this.#untilOver()?.then(() => stop());
    const connection = this.#response ? undefined : clientConnection(this.#context);
    if (connection) void ended.then(onceClientGone(connection, () => stop()));
  }

  /** An Observable that ends says of the handler what a promise does that settles. One without a subscriber says nothing. */
  #onceDone<T>(): MonoTypeOperatorFunction<T> {
    const done = () => this.#sendsItself && HandlerWork.of(this.#response!).finish();
    return tap({ complete: done, error: done });
  }

  #refuseIterable(result: unknown): unknown {
    if (!isAsyncIterable(result)) return result;
    throw new TypeError(
      `${this.#label} returned an async iterable, which only HTTP handlers and GraphQL subscriptions send: return an Observable, ` +
        'or collect it first',
    );
  }
}
