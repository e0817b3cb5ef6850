import type { Linked } from '../queue/linked-queue.js';
import type { QueuedTimer } from '../async/timer-queue.js';

/** The keeper's entry for a lease: it is list node, timer, and member of a bundle. */
export interface KeeperEntry extends QueuedTimer, Linked<KeeperEntry> {
  isKept: boolean;
  extendAt: number;
  /** Number of extensions requested or in progress: a doubt requests one more. */
  extensions: number;
  /** Both belong to the bundle that the lease is extended with, if any. */
  bundle: object | undefined;
  place: number;
}
