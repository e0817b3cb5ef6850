import { systemClock } from '../../../core/async/clock.js';
import type { Claim } from '../common/lock-table.js';
import { BEAT } from './postgres-claims.js';
import { PostgresListener } from './postgres-listener.js';
import type { PostgresTable } from './postgres-table.js';
import { QueuePlace } from './queue-place.js';
import type { PostgresListenerClient } from '../common/sql-clients.js';
import { failureKind } from '../common/sql-failures.js';
import { retried } from '../common/sql-retries.js';
import { takeBack } from '../connections/abandoned-claims.js';

/** Milliseconds after the end of a ttl at which the first waiter checks whether the key is free. */
const LOOK_AFTER = 3;
/** Milliseconds for which a server may be away before its waiters are rejected. */
const LONGEST_OUTAGE = 10_000;

/** Milliseconds by which a heartbeat may be early: it saves a read. */
const SOON = 100;

/** A waiter, and when it has to queue again (`until`). */
interface Standing {
  readonly claim: Claim;
  until: number;
}

/** The callers of one store that wait in the queues of their rows. */
export class PostgresQueue {
  readonly #table: PostgresTable;
  readonly #listener: PostgresListener;
  readonly #places = new Map<string, QueuePlace>();

  constructor(table: PostgresTable, channel: string, connect: () => PostgresListenerClient) {
    this.#table = table;
    this.#listener = new PostgresListener(connect, channel, {
      notified: (token) => this.#places.get(token)?.handOff(),
      missed: () => this.#places.forEach((place) => place.look()),
    });
  }

  /**
   * Resolves with the fencing token, or without it when the row was handed off. Rejects with `signal.reason`, after the caller
   * has left the queue.
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

  /** Resolves when the waiters whose wait has ended have left the table, too: the caller may end its pool then. */
  async close(): Promise<void> {
    const leaving = [...this.#places.values()].filter((place) => place.isLeaving);
    await Promise.all([this.#listener.close(), ...leaving.map((place) => place.left)]);
  }

  async #stand(claim: Claim, place: QueuePlace, signal: AbortSignal): Promise<bigint | undefined> {
    const standing: Standing = { claim, until: -Infinity };
    for (let answeredAt = systemClock.now(); ;) {
      await this.#listener.open(); // first: a change after the answer must not be missed
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
      if (place.isHandedOff) return undefined;
      signal.throwIfAborted();
    }
  }

  /** Resolves with the fencing token, or with the row's ms left. Writes only if needed: each write writes the whole queue. */
  async #look(standing: Standing): Promise<bigint | number> {
    const { claim } = standing;
    const startedAt = systemClock.now();
    if (startedAt < standing.until - SOON) {
      const { value } = await retried(() => this.#table.look(claim));
      if (value !== undefined) return value;
    }
    const { value } = await retried(() => this.#table.stand(claim));
    if ('fencing' in value) return value.fencing;
    standing.until = startedAt + value.interval;
    return value.remaining;
  }

  /** Never rejects: a place that cannot be removed is skipped after its heartbeat is due. */
  async #leave({ key, token, ttl }: Claim): Promise<void> {
    try {
      await retried(() => this.#table.leave(key, token));
      await retried(() => this.#table.release(key, token)); // in case the row was handed off meanwhile
    } catch {
      takeBack(this.#table, key, token, ttl);
    }
  }
}

/**
 * Milliseconds until the next read, which also finds what a lost notification would have told. The first waiter knows when the
 * row expires. The heartbeats of the others find a first waiter that is dead.
 */
function lookIn(remaining: number): number {
  return remaining > 0 ? Math.min(remaining + LOOK_AFTER, BEAT) : BEAT;
}
