import { Admin } from './admin.mjs';
import { sum } from './stats.mjs';

/** What a process asks its servers itself; to be used like the `Admin` of one. */
export class Admins {
  #admins;

  constructor(ports) {
    this.#admins = ports.map((port) => new Admin(port));
  }

  get first() {
    return this.#admins[0];
  }

  /** The CPU time of all of them so far, in microseconds. */
  async cpuMicros() {
    return sum(await Promise.all(this.#admins.map((admin) => admin.cpuMicros())));
  }

  /** Median round trip to one of them, in ms: nothing that asks a majority can be faster. */
  roundTrip() {
    return this.#admins[0].roundTrip();
  }
}
