import { LockLostError } from '../../lib/core/contract/lock-errors.js';
import { systemClock } from '../../lib/core/async/clock.js';
import { sleep } from '../../lib/core/async/sleep.js';
import type { LockService } from '../../lib/core/lock.service.js';
import type { LockOptions } from '../../lib/core/options/lock-options.js';
import type { Lock } from '../../lib/core/scope/lock.js';
import { READERS } from '../support/histories/history.js';
import type { Machine } from './world/machine.js';
import type { Recorder } from './recorder.js';
import type { Action } from './schedule.js';

/** Milliseconds: shorter than the work of most schedules, so that an answer that is lost is seen to be. */
const STORE_TIMEOUT = 400;

/** One caller of a service: asks, works under the lock, and records what it is told and what it believes. */
export class Caller {
  readonly #recorder: Recorder;
  readonly #machine: Machine;
  readonly #action: Action;
  readonly #ask: number;
  #isGranted = false;
  #isTold = false;

  constructor(recorder: Recorder, machine: Machine, action: Action, ask: number) {
    this.#recorder = recorder;
    this.#machine = machine;
    this.#action = action;
    this.#ask = ask;
  }

  /** Never rejects. */
  async call(service: Pick<LockService, 'withLock'>, changed: LockOptions = {}): Promise<void> {
    const { keys } = this.#action;
    this.#recorder.asked(this.#ask, this.#action);
    try {
      const work = (lock: Lock) => this.#work(lock);
      await service.withLock(
        keys.length === 1 ? keys[0]! : keys,
        { ...this.#options(), ...changed },
        work,
      );
      this.#recorder.kept(this.#ask);
    } catch (error) {
      this.#failed(error);
    }
  }

  #options(): LockOptions {
    const { ttl, waitTimeout, permits, cancelAfter } = this.#action;
    const sharing = permits === undefined ? {} : permits === Infinity ? { mode: 'read' as const } : { permits }; // prettier-ignore
    const options = { ttl, waitTimeout, storeTimeout: STORE_TIMEOUT, ...sharing };
    if (cancelAfter === undefined) return options;
    const canceller = new AbortController();
    systemClock.schedule(cancelAfter, () => {
      if (this.#isGranted) return;
      this.#recorder.cancelled(this.#ask);
      canceller.abort(new Error('the caller gave up'));
    });
    return { ...options, signal: canceller.signal };
  }

  async #work(lock: Lock): Promise<void> {
    this.#isGranted = true;
    const { steps, step, permits } = this.#action;
    const token = permits === undefined ? Number(lock.fencingToken) : undefined;
    this.#recorder.granted(this.#ask, this.#action.keys, token, permits === Infinity ? READERS : permits); // prettier-ignore
    lock.signal.addEventListener('abort', () => (this.#isTold = true), { once: true });
    const { pauses } = this.#machine;
    for (let done = 0; done < steps; done++) {
      await sleep(systemClock, step);
      if (!lock.isHeld) return this.#lost(pauses);
      this.#recorder.seen(this.#ask);
    }
    this.#recorder.ended(this.#ask);
  }

  /** A process that ran all the time was told by the signal before it looked. */
  #lost(pauses: number): void {
    this.#recorder.lost(this.#ask);
    if (!this.#isTold && this.#machine.pauses === pauses)
      this.#recorder.violation(
        `told late: ask ${this.#ask} found its lock lost before its signal did`,
      );
  }

  #failed(error: unknown): void {
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    if (!this.#isGranted) return this.#recorder.refused(this.#ask, why);
    if (error instanceof LockLostError) return this.#recorder.toldLoss(this.#ask);
    this.#recorder.violation(`the work of ask ${this.#ask} failed: ${why}`);
  }
}
