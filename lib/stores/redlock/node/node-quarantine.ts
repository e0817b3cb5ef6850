import { momentOf, monotonicTime, timeOfDay } from '../../../core/async/clock.js';
import type { Clock, Moment } from '../../../core/async/clock.js';
import { clockReading, hasJumped, sharper } from '../../../core/store/clock-reading.js';
import type { ClockReading } from '../../../core/store/clock-reading.js';
import type { ServerLink, ServerVitals } from '../../../core/contract/server-link.js';
import { reasonOf } from '../../../core/contract/safe-error.js';
import type { RedlockNode, ServerRecord } from './redlock-node.js';
import type { Quarantine } from './redlock-options.js';

/** Maximum milliseconds between the starts of servers that count as started together. */
const TOGETHER = 2_000;

interface Entry {
  readonly runId: string;
  /** The connection on which it was read. */
  readonly losses: number;
  /** The latest possible start of the server, or the time when its clock jumped, on our monotonic clock. */
  readonly since: number;
  readonly clock: ClockReading;
  /** Another server, or the same one before a restart, was known earlier. */
  readonly isReturning: boolean;
}

export interface QuarantineRules {
  readonly clock: Clock;
  readonly mode: Quarantine;
  /** Milliseconds. */
  largestTtl: number;
}

/** The record of the server behind one node: since when it can have a memory, and so whether it may vote. */
export class NodeQuarantine implements ServerRecord {
  readonly node: RedlockNode;
  readonly link: ServerLink;
  readonly #rules: QuarantineRules;
  #entry: Entry | undefined;
  #isAdmitted = false;
  #readingSince: number | undefined;
  /** Whether its missing vote has been reported. */
  #isTold = false;
  /** Why the last reading failed. */
  #failure = '';

  constructor(node: RedlockNode, link: ServerLink, rules: QuarantineRules) {
    this.node = node;
    this.link = link;
    this.#rules = rules;
  }

  get isKnown(): boolean {
    return this.#entry?.losses === this.link.losses;
  }

  get bar(): string | undefined {
    const { mode, clock, largestTtl } = this.#rules;
    if (mode === false) return undefined;
    const entry = this.#entry;
    if (entry?.losses !== this.link.losses)
      return `quarantined until it is known when it started${this.#failure}`;
    if (this.#isAdmitted) return undefined;
    const rest = entry.since + largestTtl - monotonicTime(clock);
    if (rest > 0) return `quarantined until ${timeOfDayIn(rest)} (in ${Math.ceil(rest)} ms)`;
    this.#isAdmitted = true;
    if (this.#isTold) this.node.tell('recovered', `its server has been up for ${largestTtl} ms`);
    return undefined;
  }

  /** When its server started, if that is known and no restart was seen. */
  get freshSince(): number | undefined {
    const entry = this.#entry;
    const { clock, largestTtl } = this.#rules;
    const isFresh = entry && entry.since > monotonicTime(clock) - largestTtl;
    return isFresh && !entry.isReturning && entry.losses === this.link.losses
      ? entry.since
      : undefined;
  }

  /** Reports once, when it is known and has no vote. */
  announce(): void {
    if (!this.#isTold && this.bar !== undefined) this.#tell('its server has just started');
  }

  /** It was started together with all others. */
  admit(): void {
    this.#isAdmitted = true;
  }

  /** Milliseconds for which a reading has not been answered. */
  get silence(): number {
    return this.#readingSince === undefined ? 0 : this.#rules.clock.now() - this.#readingSince;
  }

  /** Reads on the current connection, unless a reading is under way. Never rejects. */
  async read(): Promise<void> {
    if (this.#readingSince !== undefined) return;
    this.#readingSince = this.#rules.clock.now();
    let losses: number;
    do {
      losses = this.link.losses;
      await this.#readOnce(losses);
    } while (losses !== this.link.losses && this.link.isReady); // that was the previous connection
    this.#readingSince = undefined;
  }

  async #readOnce(losses: number): Promise<void> {
    const sentAt = momentOf(this.#rules.clock);
    try {
      const vitals = await this.link.vitals();
      if (losses === this.link.losses) this.#enter(vitals, sentAt, losses);
    } catch (error) {
      this.#failure = ` (${reasonOf(error)})`; // if the connection was lost, the next one is read again
    }
  }

  #enter({ runId, upFor, time }: ServerVitals, sentAt: Moment, losses: number): void {
    const { clock, mode } = this.#rules;
    const before = this.#entry;
    this.#failure = '';
    const now = momentOf(clock);
    const read = clockReading(time, sentAt, now);
    const isSame = before?.runId === runId;
    const isSet = isSame && hasJumped(before.clock, read);
    const reading = isSame && !isSet ? sharper(before.clock, read) : read;
    // The age that a server reports counts only at first sight: another server may be older, and its clock may have jumped.
    const firstSeen = before ? now.monotonic : sentAt.monotonic - upFor;
    const since = isSame && !isSet ? before.since : firstSeen;
    const isReturning = before !== undefined && (before.isReturning || !isSame || isSet);
    this.#entry = { runId, losses, since, clock: reading, isReturning };
    if (isSame && !isSet) return;
    this.#isAdmitted = false;
    if (mode === false || !before) return;
    this.#tell(isSet ? 'its clock has jumped' : 'its server has restarted');
  }

  #tell(reason: string): void {
    this.#isTold = true;
    this.node.tell('quarantined', reason);
  }
}

/** Admits servers that have all just been started together: there can be no lock that they have forgotten. */
export function admitAllFresh(registers: readonly NodeQuarantine[]): void {
  const starts = registers.map(({ freshSince }) => freshSince);
  if (starts.includes(undefined)) return;
  const known = starts as number[];
  if (Math.max(...known) - Math.min(...known) > TOGETHER) return;
  for (const register of registers) register.admit();
}

function timeOfDayIn(inMs: number): string {
  return new Date(timeOfDay() + inMs).toISOString();
}
