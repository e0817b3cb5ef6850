import type { Clock } from '../../core/async/clock.js';
import type { LockService } from '../../core/lock.service.js';
import { ChartRecorder } from '../charts/chart-recorder.js';
import { Sampler } from './sampler.js';

/** The record of a service's locks, for all pages that show it. */
export interface Observation {
  readonly sampler: Sampler;
  readonly recorder: ChartRecorder;
  /** Ends the recorder with the last page. To be called once. */
  leave(): void;
}

interface Shared {
  readonly sampler: Sampler;
  readonly recorder: ChartRecorder;
  pages: number;
}

const OBSERVED = new WeakMap<LockService, Shared>();

/** Records from now on, and asks the store while a page is open. */
export function lookAt(locks: LockService, clock: Clock): Observation {
  const shared = OBSERVED.get(locks) ?? observe(locks, clock);
  shared.pages++;
  const leave = () => {
    if (--shared.pages > 0) return;
    shared.recorder.close();
    OBSERVED.delete(locks);
  };
  return { sampler: shared.sampler, recorder: shared.recorder, leave };
}

function observe(locks: LockService, clock: Clock): Shared {
  const shared = {
    sampler: new Sampler(locks, clock),
    recorder: new ChartRecorder(locks.events),
    pages: 0,
  };
  OBSERVED.set(locks, shared);
  return shared;
}
