import { LockService } from 'nest-holdfast/core';
import type { Lease, LockServiceOptions } from 'nest-holdfast/core';
import { RedlockStore } from 'nest-holdfast/redlock';
import { FakeClock } from 'nest-holdfast/testing';
import { watch } from '../../../core/support/outcome';
import { QueueNode } from './queue-node';
import { StubLink } from './stub-link';
import { settled } from './stub-quorum';

export const KEY = 'order:42';
export const TTL = 10_000;
const TIMEOUT = 50;

/** Five nodes, on which another holder has the key, and one caller that waits. */
export async function waiting(options: LockServiceOptions = {}) {
  const own = line(options);
  const theirs = await Promise.all(own.nodes.map((node) => node.occupy(KEY)));
  const outcome = watch(own.locks.acquire(KEY));
  await settled();
  return { ...own, theirs, outcome, queueNode: own.nodes.find((node) => node.line.length > 0)! };
}

export function line(options: LockServiceOptions = {}) {
  const clock = new FakeClock(50_000);
  const links = Array.from({ length: 5 }, (_, index) => new StubLink(`${index}`, clock));
  const nodes = links.map((link) => new QueueNode(clock, link));
  const store = new RedlockStore(nodes, { clock, nodeTimeout: TIMEOUT, quarantine: false });
  const locks = new LockService(store, { clock, ttl: TTL, waitTimeout: 60_000, ...options });
  return { clock, links, nodes, locks };
}

export function except(nodes: readonly QueueNode[], queueNode: QueueNode): QueueNode[] {
  return nodes.filter((node) => node !== queueNode);
}

export async function release(leases: readonly Lease[]): Promise<void> {
  await Promise.all(leases.map((lease) => lease.release()));
}
