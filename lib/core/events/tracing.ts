import { tracingChannel } from 'node:diagnostics_channel';
import type { LockLostError } from '../contract/lock-errors.js';
import type { LockHoldMode } from '../sharing/hold-mode.js';
import type { AcquireEffort } from './attempt-events.js';
import type { LockEvent } from './hold-events.js';
import type { LockEvents } from './lock-events.js';

/** Message of the tracing channel `nest-holdfast:acquire`: from the call until it has the lock, or ends without it. */
export interface LockAcquireTrace extends Partial<AcquireEffort> {
  /** `LockService.events` of the service that was called: which service it is. */
  readonly events: LockEvents;
  readonly key: string;
  readonly keys: readonly string[];
  /** `LockOptions.name`. */
  readonly name: string | undefined;
  readonly mode: LockHoldMode;
  /** `LockStore.name`. */
  readonly store: string;
  /** Milliseconds. `0`: one attempt. */
  readonly waitTimeout: number;
  /** At the end: the lock. Missing when `tryAcquire` found the key held. */
  readonly result?: LockEvent | undefined;
  /** At the end: the reason of the rejection. */
  readonly error?: unknown;
}

/** Message of the tracing channel `nest-holdfast:hold`: from the grant until the release or the loss. One object for each lock. */
export interface LockHoldTrace extends LockEvent {
  /** `LockService.events` of the service that holds it: which service it is. */
  readonly events: LockEvents;
  /** At the end: the `LockLostError` of a lock that was lost. */
  readonly error?: unknown;
}

/** Calls `run`, once, and returns its result: around the work under a lock. */
export type AroundWork = <T>(hold: LockHoldTrace, run: () => T) => T;

/** The news of a lock from its grant to its end. */
export interface HoldProgress {
  jeopardy(error: unknown): void;
  released(): void;
  lost(error: LockLostError): void;
}

export const ACQUIRE = tracingChannel<string, object>('nest-holdfast:acquire');
export const HOLD = tracingChannel<string, object>('nest-holdfast:hold');

export const tracing = {
  /** Settles as `acquire` does, in the async context of the caller. */
  async acquire<Held extends { event(): LockEvent } | undefined>(
    message: LockAcquireTrace,
    acquire: () => Promise<Held>,
  ): Promise<Held> {
    let held: Held;
    const granted = async () => (held = await acquire())?.event();
    await ACQUIRE.tracePromise(granted, message);
    return held!;
  },

  /** Begins the trace of a lock. To be called where `HOLD` has subscribers. */
  hold(message: LockHoldTrace): HoldProgress {
    let released!: () => void;
    let lost!: (error: unknown) => void;
    const ended = new Promise<void>((resolve, reject) => {
      released = resolve;
      lost = reject;
    });
    // Of the promise that it returns a loss would be an unhandled rejection: the holder is told in other ways.
    HOLD.tracePromise(() => ended, message).catch(() => undefined);
    return { jeopardy: () => undefined, released, lost };
  },
};
