import type { ServerLink, ServerVitals } from 'nest-holdfast/core';
import type { FakeClock } from 'nest-holdfast/testing';
import { deferred } from '../../../core/support/outcome';

/** Midnight, by the clock of the server. */
const MIDNIGHT = 1_800_000_000_000;
let starts = 0;

/** A connection to a server that a test starts, restarts, cuts off and gives another time of day. */
export class StubLink implements ServerLink {
  isReady = true;
  losses = 0;
  /** Readings that were asked for. */
  readings = 0;
  /** The server's clock is ahead of ours by this. */
  offset = MIDNIGHT;
  /** Why the server refuses to say anything. */
  refusal: Error | undefined;
  readonly address: string;
  readonly #clock: FakeClock;
  readonly #ready: (() => void)[] = [];
  readonly #lost: (() => void)[] = [];
  #runId = 'run-0';
  #startedAt = 0;
  #held: ReturnType<typeof deferred<void>> | undefined;

  constructor(address: string, clock: FakeClock, upFor = 1_000_000) {
    this.address = address;
    this.#clock = clock;
    this.start(upFor);
  }

  onReady(listener: () => void): void {
    this.#ready.push(listener);
    if (this.isReady) listener();
  }

  onLost(listener: () => void): void {
    this.#lost.push(listener);
  }

  async vitals(): Promise<ServerVitals> {
    this.readings++;
    const asked = this.#held?.promise;
    await asked;
    if (this.refusal) throw this.refusal;
    const now = this.#clock.now();
    return { runId: this.#runId, upFor: now - this.#startedAt, time: now + this.offset };
  }

  /** Another server, empty, which has been up for so long. */
  start(upFor = 0): void {
    this.#runId = `run-${++starts}`;
    this.#startedAt = this.#clock.now() - upFor;
  }

  /** Readings are answered after `pass`, and read the clock then, as a server does that was stopped. */
  hold(): void {
    this.#held = deferred<void>();
  }

  pass(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  disconnect(): void {
    this.isReady = false;
    this.losses++;
    for (const listener of this.#lost) listener();
  }

  connect(): void {
    this.isReady = true;
    for (const listener of this.#ready) listener();
  }

  /** A crash, and a new start at once. */
  restart(): void {
    this.disconnect();
    this.start();
    this.connect();
  }
}
