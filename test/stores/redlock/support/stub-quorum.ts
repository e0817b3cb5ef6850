import { LockService } from 'nest-holdfast/core';
import type { LockNodeEvent, LockServiceOptions } from 'nest-holdfast/core';
import { RedlockStore } from 'nest-holdfast/redlock';
import type { RedlockStoreOptions } from 'nest-holdfast/redlock';
import { FakeClock } from 'nest-holdfast/testing';
import { StubLink } from './stub-link';
import { StubNode } from './stub-node';

/** A process of its own: a store and a service on nodes that others use, too. */
export class StubProcess {
  readonly store: RedlockStore;
  readonly locks: LockService;
  /** `name state` of every event about a node. */
  readonly notices: string[] = [];
  readonly events: LockNodeEvent[] = [];

  constructor(
    nodes: readonly StubNode[],
    clock: FakeClock,
    options: RedlockStoreOptions = {},
    service: LockServiceOptions = {},
  ) {
    this.store = new RedlockStore(nodes, { clock, ...options });
    this.locks = new LockService(this.store, { clock, ...service });
    this.locks.events.on('node', (event) => {
      this.events.push(event);
      this.notices.push(`${event.node} ${event.state}`);
    });
  }
}

export interface StubQuorum extends StubProcess {
  readonly clock: FakeClock;
  readonly nodes: StubNode[];
  readonly links: StubLink[];
}

/** Nodes in memory and one process that uses them. Nodes have servers behind them where `upFor` says for how long. */
export function stubQuorum(
  count: number,
  options: RedlockStoreOptions & { readonly upFor?: readonly number[] } = {},
  service: LockServiceOptions = {},
): StubQuorum {
  const { upFor, ...storeOptions } = options;
  const clock = new FakeClock(50_000);
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const links = (upFor ?? []).map((ms, index) => new StubLink(names[index]!, clock, ms));
  const nodes = Array.from({ length: count }, (_, index) => new StubNode(clock, links[index]));
  const own = new StubProcess(nodes, clock, storeOptions, service);
  return Object.assign(own, { clock, nodes, links });
}

/** Lets everything that needs no time happen. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
