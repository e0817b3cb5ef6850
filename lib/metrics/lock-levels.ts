import type { HeldLock } from '../core/inspection/held-locks.js';
import type { LockService } from '../core/lock.service.js';
import { LOCK_STATE, NODE_STATE, STORE } from './definitions.js';
import type { Attributes, MetricOf } from './definitions.js';
import { seriesOf } from './record-locks.js';

export type Level = MetricOf<'level'>;

export interface Reading {
  readonly attributes: Attributes;
  readonly value: number;
}

/**
 * How many locks, waits and nodes there are, by their attributes. A level that was read once stays, with 0, so that a chart falls
 * to 0 and does not end.
 */
export class LockLevels {
  readonly #locks: LockService;
  readonly #known: Readonly<Record<Level, Map<string, Attributes>>> = {
    lockCount: new Map(),
    pendingRequests: new Map(),
    nodeCount: new Map(),
  };

  constructor(locks: LockService) {
    this.#locks = locks;
  }

  /** Sends no command. */
  read(level: Level): Reading[] {
    const known = this.#known[level];
    const now = this.#all(level);
    for (const attributes of now) known.set(JSON.stringify(attributes), attributes);
    return totalsOf([
      ...[...known.values()].map((attributes) => ({ attributes, value: 0 })),
      ...now.map((attributes) => ({ attributes, value: 1 })),
    ]);
  }

  #all(level: Level): Attributes[] {
    const locks = this.#locks;
    const store = locks.storeName;
    if (level === 'pendingRequests')
      return locks.waiting().map((call) => seriesOf({ ...call, store }));
    if (level === 'nodeCount')
      return locks.nodes().map(({ state }) => ({ [STORE]: store, [NODE_STATE]: state }));
    return locks
      .held()
      .map((lock) => ({ ...seriesOf({ ...lock, store }), [LOCK_STATE]: stateOf(lock) }));
  }
}

/** One for each lock, the most urgent, so that the states add up to the number of locks. */
function stateOf({ state, overdue }: HeldLock): string {
  return state === 'held' && overdue ? 'overdue' : state;
}

/** One reading for all that have the same attributes, those of several services say. */
export function totalsOf(readings: readonly Reading[]): Reading[] {
  const totals = new Map<string, Reading>();
  for (const { attributes, value } of readings) {
    const series = JSON.stringify(attributes);
    totals.set(series, { attributes, value: value + (totals.get(series)?.value ?? 0) });
  }
  return [...totals.values()];
}
