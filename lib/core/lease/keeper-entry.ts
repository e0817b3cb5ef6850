import type { Linked } from '../queue/linked-queue.js';
import type { QueuedTimer } from '../async/timer-queue.js';

/** The keeper's entry for a lease: list node, timer, and member of a bundle. */
export abstract class KeeperEntry implements QueuedTimer, Linked<KeeperEntry> {
  before: this | undefined;
  behind: this | undefined;
  due = Infinity;
  index = -1;
  isKept = false;
  extendAt = Infinity;
  /** Number of extensions requested or in progress: a doubt requests one more. */
  extensions = 0;
  /** Both belong to the bundle that the lease is extended with, if any. */
  bundle: object | undefined;
  place = -1;

  /** It is due. */
  abstract run(): void;
}
