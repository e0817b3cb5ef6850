import type { LockStore } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { RedlockNode } from '../../../../lib/stores/redlock/node/redlock-node';
import { Quorum } from '../../../../lib/stores/redlock/vote/quorum';
import { QueueNode } from './queue-node';
import { StubLink } from './stub-link';

/** Milliseconds that a node may take to answer. */
export const TIMEOUT = 50;

/** The nodes of these stores, named `n0`, `n1` and so on. */
export function quorumOf(stores: readonly LockStore[], clock: FakeClock): Quorum {
  const nodes = stores.map(
    (store, index) => new RedlockNode(`n${index}`, store, clock, () => undefined),
  );
  return new Quorum(nodes, clock, TIMEOUT);
}

/** Nodes in memory, each of which has a queue, and the connections to them. */
export function queueQuorum(count: number) {
  const clock = new FakeClock(50_000);
  const links = Array.from({ length: count }, (_, index) => new StubLink(`${index}`, clock));
  const stores = links.map((link) => new QueueNode(clock, link));
  const quorum = quorumOf(stores, clock);
  return { clock, links, stores, quorum, nodes: quorum.nodes };
}
