/** Is told once when its signal aborts. */
export interface AbortListener {
  handleEvent(): void;
}

/**
 * All waiters on one signal, behind a single listener: many may share a signal, such as that of a shutdown, and Node reports
 * more than ten listeners as a leak.
 */
class AbortListeners {
  readonly #listeners = new Set<AbortListener>();

  add(signal: AbortSignal, listener: AbortListener): void {
    if (this.#listeners.size === 0) signal.addEventListener('abort', this, { once: true });
    this.#listeners.add(listener);
  }

  remove(signal: AbortSignal, listener: AbortListener): void {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
    signal.removeEventListener('abort', this);
  }

  handleEvent(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener.handleEvent();
  }
}

const ofSignals = new WeakMap<AbortSignal, AbortListeners>();

/** Calls `listener` when the signal aborts, but not if it has aborted already. */
export function onAbort(signal: AbortSignal, listener: AbortListener): void {
  let listeners = ofSignals.get(signal);
  if (!listeners) ofSignals.set(signal, (listeners = new AbortListeners()));
  listeners.add(signal, listener);
}

/** Safe to call twice. */
export function offAbort(signal: AbortSignal, listener: AbortListener): void {
  ofSignals.get(signal)?.remove(signal, listener);
}
