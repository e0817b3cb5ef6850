import { offAbort, onAbort } from './abort-listeners.js';
import { inRootContext } from './root-context.js';

/**
 * A signal that aborts with the first of several, until it is told to forget them, or when it is told to; its listeners run in
 * the root context. `AbortSignal.any` would be kept by one that lives long.
 */
export function eitherOf(...signals: readonly (AbortSignal | undefined)[]): {
  signal: AbortSignal;
  abort(reason: unknown): void;
  forget(): void;
} {
  const either = new AbortController();
  const abort = (reason: unknown) => inRootContext(() => either.abort(reason));
  const ends = signals.flatMap((signal) =>
    signal ? { signal, end: { handleEvent: () => abort(signal.reason) } } : [],
  );
  for (const { signal, end } of ends) {
    if (signal.aborted) end.handleEvent();
    onAbort(signal, end);
  }
  const forget = () => ends.forEach(({ signal, end }) => offAbort(signal, end));
  return { signal: either.signal, abort, forget };
}

/** Calls `look` before each read of the signal: `look` may abort it, before any timer could run after a blocked event loop. */
export function lookFirst(signal: AbortSignal, look: () => void): void {
  const { prototype } = AbortSignal;
  const looked = (name: 'aborted' | 'reason') => (): unknown => {
    look();
    return Reflect.get<AbortSignal, typeof name>(prototype, name, signal);
  };
  Object.defineProperties(signal, {
    aborted: { get: looked('aborted') },
    reason: { get: looked('reason') },
    throwIfAborted: {
      value() {
        look();
        prototype.throwIfAborted.call(signal);
      },
    },
  });
}

/**
 * Makes `signal.aborted` true as soon as `isOver` says so: a read after a blocked event loop is right before any timer could
 * run. The read itself calls no listener.
 */
export function tellAtOnce(signal: AbortSignal, isOver: () => boolean): void {
  const isAborted = () =>
    Reflect.get<AbortSignal, 'aborted'>(AbortSignal.prototype, 'aborted', signal);
  Object.defineProperty(signal, 'aborted', { get: () => isAborted() || isOver() });
}
