import type { Readable } from 'node:stream';
import { isClosed } from './closed-response.js';
import type { ClosableResponse } from './closed-response.js';
import { watchFiles } from './sent-file.js';
import { closedSource, refusedSource } from './sources.js';

/** The part of Node's response that is used here. */
export interface WatchedResponse extends ClosableResponse {
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  on(event: 'pipe' | 'unpipe', listener: (source: Readable) => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  end(...args: never[]): unknown;
  destroy(...args: never[]): unknown;
}

/** By response: several locks of one request ask for the same. */
const works = new WeakMap<WatchedResponse, HandlerWork>();

/**
 * How long a handler is at work for a response. A client that leaves says nothing about that, and Node is silent when a closed
 * response is ended. So a handler counts as done when it calls `end` or `destroy`, when its promise settles, when its error
 * reaches an error handler, or when what it piped into the response has closed.
 */
export class HandlerWork {
  readonly #response: WatchedResponse;
  readonly #sources = new Set<Readable>();
  /** Promises of handlers that have not settled. */
  #pending = 0;
  #isFinished: boolean;
  #whenDone: (() => void)[] = [];

  static of(response: WatchedResponse): HandlerWork {
    let work = works.get(response);
    if (!work) works.set(response, (work = new HandlerWork(response)));
    return work;
  }

  /** An error handler has the error of the handler, which ends nothing any more. */
  static failed(response: WatchedResponse): void {
    works.get(response)?.finish();
  }

  private constructor(response: WatchedResponse) {
    this.#response = response;
    this.#isFinished = response.writableEnded;
    this.#watch('end');
    this.#watch('destroy');
    watchFiles(
      response,
      () => this.#begin(),
      () => void (this.#sources.size === 0 && this.finish()),
    );
    response.on('pipe', (source) => this.#piped(source));
    response.on('unpipe', (source) => this.#unpiped(source));
  }

  /** Calls `listener` when the handler is done: at once, if it is. */
  onceDone(listener: () => void): void {
    this.#whenDone.push(listener);
    this.#tell();
  }

  /** The value that a handler returned: a promise is work until it settles, also behind `response.end`. */
  returned(result: unknown): void {
    if (!isThenable(result)) return;
    const done = this.#begin();
    const settled = () => {
      done();
      this.finish();
    };
    result.then(settled, settled);
  }

  /** The handler is done, unless it has promised more. Safe to call twice. */
  finish(): void {
    this.#isFinished = true;
    this.#tell();
  }

  /** Something is work until the result is called. */
  #begin(): () => void {
    let isDone = false;
    this.#pending++;
    return () => {
      if (isDone) return;
      isDone = true;
      this.#pending--;
      this.#tell();
    };
  }

  #tell(): void {
    if (!this.#isFinished || this.#pending > 0) return;
    for (const listener of this.#whenDone.splice(0)) listener();
  }

  #piped(source: Readable): void {
    const isFirst = this.#sources.size === 0;
    this.#sources.add(source);
    const end = () => void this.#endWithSources();
    if (isClosed(this.#response)) void refusedSource(source, this.#response).then(end);
    else if (isFirst) this.#response.once('close', end);
  }

  /** A source that has ended, and not one that is taken from a response whose client has gone. */
  #unpiped(source: Readable): void {
    if (!isClosed(this.#response)) this.#sources.delete(source);
  }

  async #endWithSources(): Promise<void> {
    if (this.#sources.size === 0) return;
    await Promise.all([...this.#sources].map(closedSource));
    this.finish();
  }

  #watch(method: 'end' | 'destroy'): void {
    const response = this.#response;
    const original = response[method];
    response[method] = (...args) => {
      try {
        return original.apply(response, args);
      } finally {
        this.finish();
      }
    };
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}
