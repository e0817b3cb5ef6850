import type { QueueNodes } from '../claim/queue-nodes.js';
import type { Quorum } from '../vote/quorum.js';

export interface LeaseContext {
  readonly quorum: Quorum;
  readonly queueNodes: QueueNodes;
  /** Told of every ttl that is asked for. */
  readonly used: (ttl: number) => void;
}

/** The fencing tokens of one holder: its own, and the last one that is reserved for later holders. */
export interface Tokens {
  readonly own: bigint;
  readonly last: bigint;
}
