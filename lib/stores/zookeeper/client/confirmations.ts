import type { Moment } from '../../../core/async/clock.js';

/**
 * Since when the leader must have heard of the session.
 *
 * The leader hears of a session at a connection: the server then asks it whether the session lives. Later it hears of the session
 * by the answers to its pings, in which each follower names the sessions that it has heard of. The leader pings each half tick,
 * and a session lasts for at least two ticks: for four such pings. A write alone does not tell the leader of the session,
 * although the leader decides on the write. But the write comes on the same connection as the answers to the pings. So an
 * answered write says that the leader knows all that its follower had heard a ping earlier.
 */
export class Confirmations {
  /** Send time of a request that the leader has heard of, as later answers prove. */
  since = -Infinity;
  /**
   * Send time of the candidate write; it becomes `since` once a write sent `pingWithin` later is answered. Missing after each
   * connection.
   */
  newest: Moment | undefined;

  /** An attempt to connect has succeeded. It began no earlier than `triedSince`. */
  connected(triedSince: number): void {
    this.since = Math.max(this.since, triedSince);
    this.newest = undefined; // its server may have had no time to report it
  }

  /** A write was answered. `pingWithin`: milliseconds within which the leader has surely asked the server once. */
  answered(sentAt: Moment, pingWithin: number): void {
    if (this.newest !== undefined) {
      if (sentAt.monotonic - this.newest.monotonic < pingWithin) return;
      this.since = Math.max(this.since, this.newest.now);
    }
    this.newest = sentAt;
  }
}
