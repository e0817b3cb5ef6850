import { context, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';

/** Name of a span, and its children in the order in which they began. */
export type SpanTree = readonly [name: string, ...children: SpanTree[]];

/** A real SDK whose spans can be read. */
export function tracingSdk() {
  const exporter = new InMemorySpanExporter();
  const starts = new Starts();
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [starts, new SimpleSpanProcessor(exporter)],
  });
  const spans = () => exporter.getFinishedSpans().toSorted(starts.inOrder);
  const tracer = tracerProvider.getTracer('test');
  return {
    tracerProvider,
    /** Runs `work` in a span of its own. */
    inSpan: <T>(name: string, work: () => Promise<T>): Promise<T> =>
      tracer.startActiveSpan(name, { kind: SpanKind.SERVER }, async (span) => {
        try {
          return await work();
        } finally {
          span.end();
        }
      }),
    /** Those that have ended, in the order in which they began. */
    spans,
    span: (name: string) => exporter.getFinishedSpans().find((each) => each.name === name),
    trees: () => treesOf(spans()),
  };
}

/** For `afterEach`. */
export function disableTracing(): void {
  trace.disable();
  context.disable();
}

/** As an SDK does when it starts. */
export function enableContexts(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

/** The order in which spans began: their times are of a clock of whole milliseconds, and of one that may be set. */
class Starts implements SpanProcessor {
  readonly #ids: string[] = [];

  onStart(span: ReadableSpan): void {
    this.#ids.push(span.spanContext().spanId);
  }

  readonly inOrder = (one: ReadableSpan, other: ReadableSpan): number =>
    this.#ids.indexOf(one.spanContext().spanId) - this.#ids.indexOf(other.spanContext().spanId);

  onEnd(): void {}
  async forceFlush(): Promise<void> {}
  async shutdown(): Promise<void> {}
}

function treesOf(spans: readonly ReadableSpan[], parent?: string): SpanTree[] {
  return spans
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)
    .map((span): SpanTree => [span.name, ...treesOf(spans, span.spanContext().spanId)]);
}
