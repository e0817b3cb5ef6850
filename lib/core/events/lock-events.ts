import { channel } from 'node:diagnostics_channel';
import { inRootContext } from '../async/root-context.js';
import type { NodeNotice, StoreWarning } from '../contract/lock-store.js';
import { SafeEmitter } from '../async/safe-emitter.js';
import type {
  LockAttemptEvent,
  LockAuditEvent,
  LockFailedEvent,
  LockRefusedEvent,
  LockTimeoutEvent,
} from './attempt-events.js';
import type {
  LockEvent,
  LockHoldEvent,
  LockJeopardyEvent,
  LockLostEvent,
  LockOverdueEvent,
  LockReleaseFailedEvent,
} from './hold-events.js';

/** A node of the store becomes usable or unusable. */
export interface LockNodeEvent extends Omit<NodeNotice, 'type'> {
  /** `LockStore.name`. */
  readonly store: string;
}

/** A server of the store is set up so that locks may be lost or fail. */
export interface LockWarningEvent extends StoreWarning {
  /** `LockStore.name`. */
  readonly store: string;
}

/** A job was called at a time that is not in its schedule. */
export interface LockUnscheduledEvent {
  /** Name of the job, as in `@OncePerTick(name)`. */
  readonly tick: string;
  /** Contains the second of the call: a machine that calls in another second gets another key. */
  readonly key: string;
  /** `LockStore.name`. */
  readonly store: string;
}

/** Event names and what their listeners get. Also published on `node:diagnostics_channel` as `nest-holdfast:<name>`. */
export interface LockEventMap {
  /** The first attempt was refused, or other callers of the process are first: the call waits. */
  waiting: [LockAttemptEvent];
  /** A call without a wait ended without a lock, or the service is being drained. */
  refused: [LockRefusedEvent];
  /** A wait ended at its `waitTimeout`, or with its last attempt. */
  timeout: [LockTimeoutEvent];
  /** A call ended with an error of the store. */
  failed: [LockFailedEvent];
  /** A call ended by its `signal`, or because the service was closed. */
  aborted: [LockFailedEvent];
  /** A lock was granted. */
  held: [LockAttemptEvent];
  /** A nested call shares a lock of its context (`reentrant: true`). `keys` are those that it asked for. */
  reentered: [LockEvent];
  /** An extension failed; the lock is still held and the extension is tried again. */
  jeopardy: [LockJeopardyEvent];
  /** An extension succeeded after a failed one. */
  recovered: [LockHoldEvent];
  lost: [LockLostEvent];
  /**
   * A lock is held for longer than its `overdueAfter`, and stays held; or was held until its `maxHold`, then this follows `lost`:
   * work that hangs, or a client that reads or sends slowly.
   */
  overdue: [LockOverdueEvent];
  released: [LockHoldEvent];
  /** The store did not confirm a release. Follows `released`. */
  releaseFailed: [LockReleaseFailedEvent];
  /** A node of a store that has several was suspended or quarantined, or has recovered. */
  node: [LockNodeEvent];
  /** Once for each setting of a server that may lose locks. Without a listener, a process warning with this `code`. */
  warning: [LockWarningEvent];
  /** A lock was taken from its holder by hand, or the service is being drained. */
  audit: [LockAuditEvent];
  /** A tick was named by the second of the call, for its schedule has no time close enough: another machine may run it, too. */
  unscheduled: [LockUnscheduledEvent];
}

export type LockEventName = keyof LockEventMap;

const CHANNELS = {
  waiting: channel('nest-holdfast:waiting'),
  refused: channel('nest-holdfast:refused'),
  timeout: channel('nest-holdfast:timeout'),
  failed: channel('nest-holdfast:failed'),
  aborted: channel('nest-holdfast:aborted'),
  audit: channel('nest-holdfast:audit'),
  held: channel('nest-holdfast:held'),
  reentered: channel('nest-holdfast:reentered'),
  jeopardy: channel('nest-holdfast:jeopardy'),
  recovered: channel('nest-holdfast:recovered'),
  lost: channel('nest-holdfast:lost'),
  overdue: channel('nest-holdfast:overdue'),
  released: channel('nest-holdfast:released'),
  releaseFailed: channel('nest-holdfast:releaseFailed'),
  node: channel('nest-holdfast:node'),
  warning: channel('nest-holdfast:warning'),
  unscheduled: channel('nest-holdfast:unscheduled'),
} satisfies Record<LockEventName, unknown>;

/** The events of the locks of one `LockService`: `locks.events.on('lost', ({ key, error }) => …)`. */
export class LockEvents extends SafeEmitter<LockEventMap> {
  constructor() {
    super('lock');
  }

  /** Builds the event only if it has a listener. A listener that throws is reported as a process warning. */
  publish<Name extends LockEventName>(name: Name, event: () => LockEventMap[Name][0]): void {
    const listened = this.listenerCount(name) > 0;
    const { hasSubscribers } = CHANNELS[name];
    if (!listened && !hasSubscribers) return;
    const message = event();
    if (hasSubscribers) inRootContext(() => CHANNELS[name].publish(message));
    if (listened) this.tell(name, ...([message] as LockEventMap[Name]));
  }
}
