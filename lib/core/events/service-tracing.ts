import { warn } from '../async/warn.js';
import { redact } from '../text/redaction.js';
import type { LockEvent } from './hold-events.js';
import type { LockHoldSpan, LockTracer } from './lock-tracer.js';
import { ACQUIRE, tracing } from './tracing.js';
import type { AroundWork, HoldProgress, LockAcquireTrace, LockHoldTrace } from './tracing.js';

/** The spans of one lock, in whose context its work runs. */
export interface WorkTrace extends HoldProgress {
  /** The functions around the work: the spans, and in them `inner`. */
  enclose(inner: AroundWork | undefined): AroundWork;
}

/** The followers of one service's calls and locks: its own tracers, and the subscribers of the tracing channels. */
export class ServiceTracing {
  #tracers: readonly LockTracer[] = [];
  /** Whether there are any, which may trace nothing. */
  hasTracers = false;

  /** Calling the result takes `tracer` out. Spans that have begun are still ended. */
  add(tracer: LockTracer): () => void {
    const own = [tracer]; // the same tracer may be added twice
    this.#tracers = [...this.#tracers, ...own];
    this.hasTracers = true;
    return () => {
      const index = own.length ? this.#tracers.indexOf(own.pop()!) : -1;
      this.#tracers = this.#tracers.filter((_, each) => each !== index);
    };
  }

  get isAcquireTraced(): boolean {
    return ACQUIRE.hasSubscribers || this.#isTracing;
  }

  /** Settles as `acquire` does, in the async context of the caller. */
  async acquire<Held extends { event(): LockEvent } | undefined>(
    message: LockAcquireTrace,
    acquire: () => Promise<Held>,
  ): Promise<Held> {
    const spans = this.#begin((tracer) => tracer.acquire(message));
    let outcome: Pick<LockAcquireTrace, 'result' | 'error'> = {};
    try {
      const held = await tracing.acquire(message, acquire);
      outcome = { result: held?.event() };
      return held;
    } catch (error) {
      outcome = { error };
      throw error;
    } finally {
      for (const span of spans) safely(() => span.end({ ...message, ...outcome }));
    }
  }

  /** The work of a lock begins. `undefined`: no tracer follows it. */
  work(message: () => LockHoldTrace): WorkTrace | undefined {
    if (!this.#isTracing) return undefined;
    const lock = message();
    const spans = this.#begin((tracer) => tracer.hold(lock));
    const each = (tell: (span: LockHoldSpan) => void) => {
      for (const span of spans) safely(() => tell(span));
    };
    return {
      enclose: (inner) => enclosed(spans, inner),
      jeopardy: (error) => each((span) => span.jeopardy(error)),
      released: () => each((span) => span.end()),
      lost: (error) => each((span) => span.end(error)),
    };
  }

  get #isTracing(): boolean {
    return this.#tracers.some(({ isTracing }) => isTracing);
  }

  #begin<Span>(begin: (tracer: LockTracer) => Span | undefined): Span[] {
    const tracers = this.#tracers.filter(({ isTracing }) => isTracing);
    return tracers.flatMap((tracer) => safely(() => begin(tracer)) ?? []);
  }
}

/** The first span outermost. */
function enclosed(spans: readonly LockHoldSpan[], inner: AroundWork | undefined): AroundWork {
  const direct: AroundWork = (_, run) => run();
  return spans.reduceRight<AroundWork>((within, { around }) => {
    return (hold, run) => around(hold, () => within(hold, run));
  }, inner ?? direct);
}

/** A tracer must not fail a lock. */
function safely<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    warn(`A tracer of locks threw: ${redact(String(error))}`);
    return undefined;
  }
}
