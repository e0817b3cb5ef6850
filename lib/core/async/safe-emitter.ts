import { EventEmitter } from 'node:events';
import { inRootContext } from './root-context.js';
import { redact } from '../text/redaction.js';
import { warn } from './warn.js';

/**
 * An emitter whose listeners run in the root context and cannot fail the emitting code. A listener that throws or rejects is
 * reported as a process warning.
 */
export abstract class SafeEmitter<
  Events extends Record<keyof Events, unknown[]>,
> extends EventEmitter<Events> {
  readonly #kind: string;

  /** `kind` of events, for the warning. */
  constructor(kind: string) {
    super({ captureRejections: true });
    this.#kind = kind;
  }

  protected tell<Name extends keyof Events>(name: Name, ...args: Events[Name]): void {
    try {
      inRootContext(() => (this as EventEmitter).emit(name as string, ...args));
    } catch (error) {
      this.#warn(name, error);
    }
  }

  /** Node calls this for a listener that is an async function and rejects. */
  override [EventEmitter.captureRejectionSymbol](error: unknown, ...[name]: unknown[]): void {
    this.#warn(name, error);
  }

  #warn(name: unknown, error: unknown): void {
    warn(`A listener of ${this.#kind} event "${String(name)}" threw: ${redact(String(error))}`);
  }
}
