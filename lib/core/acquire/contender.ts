import type { StoreAttempts } from './store-attempts.js';
import type { Clock } from '../async/clock.js';
import type { LockStore } from '../contract/lock-store.js';
import type { WaitDeadline } from './wait-deadline.js';
import type { LocalTicket } from '../queue/local-ticket.js';
import type { TicketLimits } from '../queue/ticket-wait.js';

/** A caller that competes for keys, and its means. */
export interface Contender {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly ticket: LocalTicket;
  readonly attempts: StoreAttempts;
  readonly patience: WaitDeadline;
  readonly limits: TicketLimits;
}
