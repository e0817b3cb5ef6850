import type { Moment } from '../../core/clock.js';

/**
 * Since when the leader must have heard of the session.
 *
 * It hears of one at a connection, where the server asks it whether the session lives, and else by the answers to its pings,
 * in which each follower names the sessions that it has heard of. The leader pings each half tick, and a session lasts for two
 * ticks at least: for four such pings. A write does not tell it by itself, though it is the leader who decides on it. But it
 * comes on the same connection as the answers to the pings. So an answered write says that the leader knows of all that its
 * follower had heard a ping earlier.
 */
export class Confirmations {
  /** When something was sent of which the leader has heard, as later answers prove. */
  since = -Infinity;
  /** When the write was sent that is `since` as soon as one is answered that was sent so much later. Missing after each connection. */
  newest: Moment | undefined;

  /** An attempt to connect that was not begun before `triedSince` has succeeded. */
  connected(triedSince: number): void {
    this.since = Math.max(this.since, triedSince);
    this.newest = undefined; // its server may have had no time to tell of it
  }

  /** A write was answered. `pingWithin`: milliseconds in which the leader has surely asked the server once, if they have passed. */
  answered(sentAt: Moment, pingWithin: number): void {
    if (this.newest !== undefined) {
      if (sentAt.monotonic - this.newest.monotonic < pingWithin) return;
      this.since = Math.max(this.since, this.newest.now);
    }
    this.newest = sentAt;
  }
}
