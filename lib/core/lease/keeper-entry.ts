import type { Linked } from '../fifo.js';
import type { QueuedTimer } from '../timer-queue.js';

/** What the keeper knows of a lease: its places among those that are kept, in the line of what is due next, and in a bundle. */
export abstract class KeeperEntry implements QueuedTimer, Linked<KeeperEntry> {
  before: this | undefined;
  behind: this | undefined;
  due = Infinity;
  index = -1;
  isKept = false;
  extendAt = Infinity;
  /** How many are asked for or under way: a doubt asks for one more. */
  extensions = 0;
  /** Both belong to the bundle that the lease is extended with, if any. */
  bundle: object | undefined;
  place = -1;

  /** It is due. */
  abstract run(): void;
}
