import type { LockAttemptEvent } from '../core/events/attempt-events.js';
import type { LockEvent, LockHoldEvent } from '../core/events/hold-events.js';
import type { LockEventMap, LockEventName } from '../core/events/lock-events.js';
import type { LockService } from '../core/lock.service.js';
import { END, ERROR, MODE, NAME, OUTCOME, STORE } from './definitions.js';
import type { Attributes, MetricOf } from './definitions.js';
import { errorType } from './error-type.js';
import { errorTypes, lockNames } from './label-values.js';

/** Takes measurements. */
export interface Recorder {
  observe(metric: MetricOf<'histogram'>, seconds: number, attributes: Attributes): void;
  /** One more. */
  count(metric: MetricOf<'counter'>, attributes: Attributes): void;
}

type Listeners = { readonly [Name in LockEventName]?: (event: LockEventMap[Name][0]) => void };

/** Tells `recorder` what happens to the locks from now on. Calling the result ends that. */
export function recordLocks({ events }: LockService, recorder: Recorder): () => void {
  const listeners = Object.entries(listenersWith(recorder)) as [LockEventName, () => void][];
  for (const [name, listener] of listeners) events.on(name, listener);
  return () => {
    for (const [name, listener] of listeners) events.off(name, listener);
  };
}

/** Every call that does not share a lock ends with one of `held`, `refused`, `timeout`, `failed` and `aborted`. */
function listenersWith(recorder: Recorder): Listeners {
  const ended = (event: LockAttemptEvent, outcome: string, error?: unknown) =>
    recorder.observe('acquireDuration', event.waited / 1_000, {
      ...seriesOf(event),
      [OUTCOME]: outcome,
      ...(error !== undefined && { [ERROR]: errorTypes.of(errorType(error)) }),
    });
  const held = (event: LockHoldEvent, end: Attributes) =>
    recorder.observe('holdDuration', event.heldFor / 1_000, { ...seriesOf(event), ...end });
  const failed = (event: LockEvent & { readonly error: unknown }): Attributes => {
    return { ...seriesOf(event), [ERROR]: errorTypes.of(errorType(event.error)) };
  };
  return {
    held: (event) => ended(event, 'granted'),
    refused: (event) => ended(event, 'busy', event.error),
    timeout: (event) => ended(event, 'busy', event.error),
    failed: (event) => ended(event, 'failed', event.error),
    aborted: (event) => ended(event, 'aborted', event.error),
    released: (event) => held(event, { [END]: 'released' }),
    lost: (event) => held(event, { [END]: 'lost', [ERROR]: event.error.reason }),
    jeopardy: (event) => recorder.count('extensionFailures', failed(event)),
    releaseFailed: (event) => recorder.count('releaseFailures', failed(event)),
  };
}

type Labelled = Pick<LockEvent, 'name' | 'mode' | 'store'>;

/** Of all that concerns one lock. */
export function attributesOf({ name, mode, store }: Labelled): Attributes {
  return { ...(name !== undefined && { [NAME]: name }), [MODE]: mode, [STORE]: store };
}

/** Of all measurements of one lock. */
export function seriesOf({ name, mode, store }: Labelled): Attributes {
  return attributesOf({ name: name === undefined ? undefined : lockNames.of(name), mode, store });
}
