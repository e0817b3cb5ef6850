import type {
  LockInspection,
  LockListQuery,
  LockPage,
  LockStore,
} from '../../core/contract/lock-store.js';
import { ListCursors } from '../../core/list/list-cursor.js';
import type { DualContext } from './dual-attempts.js';

/** Where a page has ended. */
interface Place {
  readonly side: 'from' | 'to';
  readonly cursor?: string | undefined;
}

/** The reports of both stores about their locks, together. */
export class DualReports {
  readonly #context: DualContext;
  readonly #cursors: ListCursors<Place>;

  /** Both stores have `inspect`. */
  constructor(context: DualContext) {
    this.#context = context;
    this.#cursors = new ListCursors('dual', context.from.name, context.to.name);
  }

  /** The holder of the key in `to` has it, or is about to get it. */
  async inspect(key: string): Promise<LockInspection | undefined> {
    const { from, to, numbers } = this.#context;
    const [one, seen] = await Promise.all([from.inspect!(key), to.inspect!(key)]);
    if (!seen) return one;
    const other = numbers.areTimed ? seen : { ...seen, heldFor: undefined };
    if (!one) return { ...other, fencingToken: other.fencingToken && numbers.ofTarget(other.fencingToken) }; // prettier-ignore
    const isOne = one.holder === other.holder;
    const token = isOne
      ? numbers.tokenOf(one.fencingToken, other.fencingToken)
      : other.fencingToken && numbers.ofTarget(other.fencingToken);
    return {
      ...one,
      ...other,
      fencingToken: token,
      heldFor: other.heldFor ?? (isOne ? one.heldFor : undefined),
      remaining: least(one.remaining, other.remaining),
      ...waitersOf(one, other),
    };
  }

  /** The keys of `from`, then those of `to`. One that both have comes twice. */
  async list({ match, cursor, limit }: LockListQuery): Promise<LockPage> {
    const { side, cursor: place } = this.#cursors.read(cursor) ?? { side: 'from' };
    const store: LockStore = this.#context[side];
    const page = await store.list!({ match, cursor: place, limit });
    const seen = await Promise.all(page.locks.map(({ key }) => this.inspect(key)));
    const locks = seen.filter((each) => each !== undefined);
    const told = page.unreachable ? { unreachable: page.unreachable } : {};
    if (page.cursor === undefined && side === 'to') return { locks, ...told };
    const next: Place = page.cursor === undefined ? { side: 'to' } : { side, cursor: page.cursor };
    return { locks, ...told, cursor: this.#cursors.write(next) };
  }
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function waitersOf(one: LockInspection, other: LockInspection): Partial<LockInspection> {
  if (!one.waiters || !other.waiters) {
    const { waiters, waiterCount } = one.waiters ? one : other;
    return waiters ? { waiters, waiterCount } : {};
  }
  return {
    waiters: [...one.waiters, ...other.waiters],
    waiterCount: (one.waiterCount ?? one.waiters.length) + (other.waiterCount ?? other.waiters.length), // prettier-ignore
  };
}
