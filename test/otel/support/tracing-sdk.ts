import { context, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** Name of a span, and its children in the order in which they began. */
export type SpanTree = readonly [name: string, ...children: SpanTree[]];

/** A real SDK whose spans can be read. */
export function tracingSdk() {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
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
    spans: () => exporter.getFinishedSpans().toSorted(byStart),
    span: (name: string) => exporter.getFinishedSpans().find((each) => each.name === name),
    trees: () => treesOf(exporter.getFinishedSpans().toSorted(byStart)),
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

function byStart(one: ReadableSpan, other: ReadableSpan): number {
  const [seconds, nanos] = one.startTime;
  const [otherSeconds, otherNanos] = other.startTime;
  return seconds - otherSeconds || nanos - otherNanos;
}

function treesOf(spans: readonly ReadableSpan[], parent?: string): SpanTree[] {
  return spans
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)
    .map((span): SpanTree => [span.name, ...treesOf(spans, span.spanContext().spanId)]);
}
