import { systemClock } from '../../core/async/clock.js';
import { sleep } from '../../core/async/sleep.js';
import { hasMembers } from './group-members.js';

/** Milliseconds between two looks whether all of a group have ended. */
const LOOK_EVERY = 10;
/** Milliseconds in which a group ends that was killed. A process that waits for a disk may take longer. */
const KILLED_WITHIN = 10_000;

/** A command and all that it starts, as a session of its own: one signal reaches them all. */
export class ProcessGroup {
  readonly #id: number;

  constructor(id: number) {
    this.#id = id;
  }

  /** To all of the group. */
  signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#id, signal);
    } catch {
      // all of them have ended
    }
  }

  /** Ends what the command has left running: by SIGTERM, and after `killAfter` ms by SIGKILL. */
  async endRest(killAfter: number): Promise<void> {
    if (await this.#ends(0)) return;
    this.signal('SIGTERM');
    if (await this.#ends(killAfter)) return;
    this.signal('SIGKILL');
    await this.#ends(KILLED_WITHIN);
  }

  async #ends(within: number): Promise<boolean> {
    const end = systemClock.now() + within;
    while (hasMembers(this.#id)) {
      if (systemClock.now() >= end) return false;
      await sleep(systemClock, LOOK_EVERY);
    }
    return true;
  }
}
