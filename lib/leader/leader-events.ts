import { EventEmitter } from 'node:events';
import type { LockLostError } from '../core/lock-errors.js';
import type { LeaderTerm } from './leader-term.js';

/** Event names and what their listeners get. */
export interface LeaderEventMap {
  /** This process leads from now on. */
  elected: [LeaderTerm];
  /** The lock could not be extended; it is tried again, and the term goes on meanwhile. `remaining` is in milliseconds. */
  jeopardy: [LeaderTerm, { readonly error: unknown; readonly remaining: number }];
  /** The term ended as this process wanted it. */
  resigned: [LeaderTerm];
  /** The term ended by itself: others may lead. */
  lost: [LeaderTerm, LockLostError];
  /** The store failed during a candidacy, or `onElected` threw. This process stands again. */
  failed: [unknown];
}

/** What happens in one election: `election.events.on('elected', (term) => …)`. */
export class LeaderEvents extends EventEmitter<LeaderEventMap> {
  constructor() {
    super({ captureRejections: true });
  }

  /** A listener that throws is reported as a process warning. */
  publish<Name extends keyof LeaderEventMap>(name: Name, ...args: LeaderEventMap[Name]): void {
    try {
      (this as EventEmitter).emit(name, ...args);
    } catch (error) {
      warn(name, error);
    }
  }

  /** Node calls this for a listener that is an async function and rejects. */
  override [EventEmitter.captureRejectionSymbol](error: unknown, ...[name]: unknown[]): void {
    warn(String(name), error);
  }
}

function warn(name: string, error: unknown): void {
  process.emitWarning(`A listener of leader event "${name}" threw: ${String(error)}`);
}
