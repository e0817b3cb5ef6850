import type { LockLostError } from '../core/contract/lock-errors.js';
import { SafeEmitter } from '../core/async/safe-emitter.js';
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

/** The events of one election: `election.events.on('elected', (term) => …)`. */
export class LeaderEvents extends SafeEmitter<LeaderEventMap> {
  constructor() {
    super('leader');
  }

  /** A listener that throws is reported as a process warning. */
  publish<Name extends keyof LeaderEventMap>(name: Name, ...args: LeaderEventMap[Name]): void {
    this.tell(name, ...args);
  }
}
