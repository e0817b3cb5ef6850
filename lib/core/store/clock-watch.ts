import { inRootContext } from '../async/root-context.js';
import { momentOf, systemClock } from '../async/clock.js';
import type { Cancel } from '../async/clock.js';
import { clockReading, hasJumped, sharper } from './clock-reading.js';
import type { ClockReading } from './clock-reading.js';

/** Milliseconds between two looks at the servers' clocks, while locks are held. */
const LOOK = 1_000;

/** A server, a database, or a master of a Cluster. */
export interface ServerClock {
  readonly name: string;
  /** Missing: it may be asked at any time. */
  readonly isReady?: boolean;
  /** Milliseconds since 1970. */
  time(): Promise<number>;
  /** Whether an error of `time` means that the server never tells. */
  isForbidden?(error: unknown): boolean;
}

/**
 * Tells when a server's clock was set. A clock set forward ends locks early, as it ends every key with an expiry. Asks each
 * server for its time every second, while locks may be held there.
 */
export class ClockWatch {
  readonly #servers: () => readonly ServerClock[];
  readonly #isSet: (name: string, by: number) => void;
  readonly #readings = new Map<string, ClockReading>();
  /** Servers that have not answered, and servers that forbid the command. */
  readonly #unasked = new Set<string>();
  /** The largest ttl since the last look. */
  longest = 0;
  #until = 0;
  #cancel: Cancel | undefined;

  /** `isSet` is called with the name of a server, and the milliseconds that its clock was set forward. */
  constructor(servers: () => readonly ServerClock[], isSet: (name: string, by: number) => void) {
    this.#servers = servers;
    this.#isSet = isSet;
  }

  /** A lock may be held for `ttl` ms from now. Changes nothing where `longest` is as much. */
  holds(ttl: number): void {
    if (ttl > this.longest) this.longest = ttl; // the clock is read at the next look: this is called for each lock
    if (!this.#cancel) this.#schedule();
  }

  close(): void {
    this.longest = 0;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#readings.clear();
  }

  #schedule(): void {
    inRootContext(() => (this.#cancel = systemClock.schedule(LOOK, this.#look, true)));
  }

  readonly #look = (): void => {
    this.#cancel = undefined;
    const now = systemClock.now();
    this.#until = Math.max(this.#until, now + this.longest);
    this.longest = 0;
    if (now >= this.#until) return this.#readings.clear(); // across a long pause, readings cannot be compared
    this.#schedule();
    for (const server of this.#servers())
      if (server.isReady !== false && !this.#unasked.has(server.name)) void this.#read(server);
  };

  /** Never rejects. */
  async #read(server: ServerClock): Promise<void> {
    const { name } = server;
    const sentAt = momentOf(systemClock);
    this.#unasked.add(name);
    try {
      const time = await server.time();
      this.#compare(name, clockReading(time, sentAt, momentOf(systemClock)));
      this.#unasked.delete(name);
    } catch (error) {
      if (!server.isForbidden?.(error)) this.#unasked.delete(name);
    }
  }

  #compare(name: string, now: ClockReading): void {
    const before = this.#readings.get(name);
    const isSet = before !== undefined && hasJumped(before, now);
    if (this.#cancel) this.#readings.set(name, before && !isSet ? sharper(before, now) : now);
    if (isSet) this.#isSet(name, Math.round(now.offsets[0] - before.offsets[0]));
  }
}

/** The reason for a doubt after a clock was set by `by` milliseconds. */
export function whySet(name: string, by: number): string {
  return `the clock of ${name} was set ${by < 0 ? 'back' : 'forward'} by ${Math.abs(by)} ms`;
}
