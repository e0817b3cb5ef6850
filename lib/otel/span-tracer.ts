import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ProxyTracerProvider, Span, Tracer, TracerProvider } from '@opentelemetry/api';
import type { LockHoldSpan, LockSpan, LockTracer } from '../core/events/lock-tracer.js';
import type { LockAcquireTrace, LockHoldTrace } from '../core/events/tracing.js';
import { ERROR } from '../metrics/definitions.js';
import { errorType } from '../metrics/error-type.js';
import { attributesOf } from '../metrics/record-locks.js';

const KEYS = 'holdfast.lock.keys';
const TOKEN = 'holdfast.lock.fencing_token';
const ATTEMPTS = 'holdfast.acquire.attempts';

export interface SpanOptions {
  /** @default the global one of `@opentelemetry/api` at each call */
  readonly tracerProvider?: TracerProvider | undefined;
  readonly recordKeys?: boolean | undefined;
}

/** Makes spans of calls for locks, and of the time for which work has one. No span has a key, unless `recordKeys` says so. */
export class SpanTracer implements LockTracer {
  readonly #options: SpanOptions;

  constructor(options: SpanOptions) {
    this.#options = options;
  }

  get isTracing(): boolean {
    return tracerOf(this.#options.tracerProvider ?? trace.getTracerProvider()) !== undefined;
  }

  acquire(call: LockAcquireTrace): LockSpan {
    const span = this.#start('acquire', call);
    return {
      end: ({ attempts, result, error }) => {
        if (this.#options.recordKeys) {
          if (attempts !== undefined) span.setAttribute(ATTEMPTS, attempts);
          if (result) recordToken(span, result);
        }
        if (error !== undefined) fail(span, errorType(error));
        span.end();
      },
    };
  }

  hold(lock: LockHoldTrace): LockHoldSpan {
    const span = this.#start('hold', lock);
    if (this.#options.recordKeys) recordToken(span, lock);
    return {
      around: (_, run) => context.with(trace.setSpan(context.active(), span), run),
      jeopardy: (error) => span.addEvent('jeopardy', { [ERROR]: errorType(error) }),
      end: (loss) => {
        if (loss) lost(span, loss.reason);
        span.end();
      },
    };
  }

  #start(what: 'acquire' | 'hold', lock: LockAcquireTrace | LockHoldTrace): Span {
    const { tracerProvider = trace.getTracerProvider(), recordKeys } = this.#options;
    const attributes = { ...attributesOf(lock), ...(recordKeys && { [KEYS]: [...lock.keys] }) };
    const name = lock.name === undefined ? what : `${what} ${lock.name}`;
    return tracerOf(tracerProvider)!.startSpan(name, { kind: SpanKind.INTERNAL, attributes });
  }
}

/** `undefined`: the global provider, before an SDK has started. */
function tracerOf(provider: TracerProvider | ProxyTracerProvider): Tracer | undefined {
  if ('getDelegateTracer' in provider) return provider.getDelegateTracer('nest-holdfast');
  return provider.getTracer('nest-holdfast');
}

function recordToken(span: Span, { fencingToken }: Pick<LockHoldTrace, 'fencingToken'>): void {
  if (fencingToken !== undefined) span.setAttribute(TOKEN, String(fencingToken));
}

function lost(span: Span, reason: string): void {
  span.addEvent('lost', { [ERROR]: reason });
  fail(span, reason);
}

/** Without the message of the error, which may name a key. */
function fail(span: Span, type: string): void {
  span.setAttribute(ERROR, type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
