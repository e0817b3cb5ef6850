import { systemClock } from '../../core/clock.js';
import type { Claim } from './lock-table.js';
import { BEAT } from './postgres-claims.js';
import { PostgresListener } from './postgres-listener.js';
import type { PostgresTable } from './postgres-table.js';
import { QueuePlace } from './queue-place.js';
import type { PostgresListenerClient } from './sql-clients.js';
import { failureKind } from './sql-failures.js';
import { retried } from './sql-retries.js';
import { takeBack } from './abandoned-claims.js';

/** Milliseconds after the end of a ttl at which the first in line looks whether the key is free. */
const LOOK_AFTER = 3;
/** Milliseconds for which a server may be away before those who wait are told. */
const LONGEST_OUTAGE = 10_000;

/** Milliseconds by which a sign of life may be early: it saves a look. */
const SOON = 100;

/** Somebody in line, who is to stand in it again at `until`. */
interface Standing {
  readonly claim: Claim;
  until: number;
}

/** The callers of one store that stand in the lines of their rows. */
export class PostgresQueue {
  readonly #table: PostgresTable;
  readonly #listener: PostgresListener;
  readonly #places = new Map<string, QueuePlace>();

  constructor(table: PostgresTable, channel: string, connect: () => PostgresListenerClient) {
    this.#table = table;
    this.#listener = new PostgresListener(connect, channel, {
      notified: (token) => this.#places.get(token)?.handOver(),
      missed: () => this.#places.forEach((place) => place.look()),
    });
  }

  /**
   * Resolves with the fencing token, or without it when the row was handed over. Rejects with `signal.reason`, and has left the
   * line by then.
   */
  async wait(claim: Claim, signal: AbortSignal): Promise<bigint | undefined> {
    const place = new QueuePlace(signal);
    this.#places.set(claim.token, place);
    try {
      return await this.#stand(claim, place, signal);
    } catch (error) {
      await this.#leave(claim);
      throw error;
    } finally {
      place.close();
      this.#places.delete(claim.token);
      if (this.#places.size === 0) this.#listener.idle();
    }
  }

  close(): Promise<void> {
    return this.#listener.close();
  }

  async #stand(claim: Claim, place: QueuePlace, signal: AbortSignal): Promise<bigint | undefined> {
    const standing: Standing = { claim, until: -Infinity };
    for (let answeredAt = systemClock.now(); ;) {
      await this.#listener.open(); // first: what happens after the answer must not be missed
      signal.throwIfAborted();
      try {
        const answer = await this.#look(standing);
        if (typeof answer === 'bigint') return answer;
        answeredAt = systemClock.now();
        await place.pause(lookIn(answer));
      } catch (error) {
        const isBearable = ['connection', 'conflict'].includes(failureKind(error));
        if (!isBearable || systemClock.now() - answeredAt > LONGEST_OUTAGE) throw error;
        await place.pause(BEAT / 4);
      }
      if (place.isHandedOver) return undefined;
      signal.throwIfAborted();
    }
  }

  /** Resolves with the fencing token, or with the row's ms left. Writes only where that is needed: each time, that is the whole line. */
  async #look(standing: Standing): Promise<bigint | number> {
    const { claim } = standing;
    const startedAt = systemClock.now();
    if (startedAt < standing.until - SOON) {
      const { value } = await retried(() => this.#table.look(claim));
      if (value !== undefined) return value;
    }
    const { value } = await retried(() => this.#table.stand(claim));
    if ('fencing' in value) return value.fencing;
    standing.until = startedAt + value.beat;
    return value.remaining;
  }

  /** Never rejects: a place that cannot be left is passed over after its heartbeat. */
  async #leave({ key, token, ttl }: Claim): Promise<void> {
    try {
      await retried(() => this.#table.leave(key, token));
      await retried(() => this.#table.release(key, token)); // in case that it was handed over meanwhile
    } catch {
      takeBack(this.#table, key, token, ttl);
    }
  }
}

/** Milliseconds until the next look, which also finds what a lost notification would have told. Whose turn it is knows when the row expires; the beats of the others find a dead one. */
function lookIn(remaining: number): number {
  return remaining > 0 ? Math.min(remaining + LOOK_AFTER, BEAT) : BEAT;
}
