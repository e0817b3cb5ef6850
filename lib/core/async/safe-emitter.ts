import { EventEmitter } from 'node:events';
import { inRootContext } from './root-context.js';
import { redact } from '../text/redaction.js';
import { warn } from './warn.js';

/**
 * An emitter whose listeners run in the root context and cannot fail the emitting code, nor each other. A listener that throws or
 * rejects is reported as a process warning.
 */
export abstract class SafeEmitter<
  Events extends Record<keyof Events, unknown[]>,
> extends EventEmitter<Events> {
  readonly #kind: string;

  /** `kind` of events, for the warning. */
  constructor(kind: string) {
    super();
    this.#kind = kind;
  }

  protected tell<Name extends keyof Events>(name: Name, ...args: Events[Name]): void {
    inRootContext(() => {
      for (const listener of (this as EventEmitter).rawListeners(name as string))
        this.#call(listener, name, args);
    });
  }

  /** `emit` would leave out the listeners behind one that throws. */
  #call(listener: Function, name: unknown, args: readonly unknown[]): void {
    const failed = (error: unknown) => this.#warn(name, error);
    try {
      const answer: unknown = Reflect.apply(listener, this, args);
      if (typeof answer === 'object' && answer !== null) Promise.resolve(answer).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  #warn(name: unknown, error: unknown): void {
    warn(`A listener of ${this.#kind} event "${String(name)}" threw: ${redact(textOf(error))}`);
  }
}

function textOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'an object without a text';
  }
}
