import { randomUUID } from 'node:crypto';
import type { LockListQuery, LockPage } from '../../../core/contract/lock-inspection.js';
import type { NodeReport } from '../../../core/contract/lock-store.js';
import { ListCursors } from '../../../core/list/list-cursor.js';
import { inspectAll } from '../vote/inspect-all.js';
import { QuorumError } from '../vote/quorum.js';
import type { Quorum } from '../vote/quorum.js';
import { endedWith } from '../vote/vote.js';
import { pageOf } from './node-page.js';
import { ReportedKeys } from './reported-keys.js';

/** Where a page has ended. */
interface Place {
  /** The name of the whole list. */
  readonly list: string;
  /** The node that is listed. */
  readonly node: number;
  /** Its own cursor. */
  readonly cursor?: string | undefined;
  /** Nodes that were not listed to their end. */
  readonly failed: readonly NodeReport[];
}

/**
 * The list of one node after the other. A key that a majority holds is on at least one of the nodes that answer, unless
 * a majority is down. Each key is then inspected at all nodes: a majority says whether it is held.
 */
export class RedlockList {
  readonly #quorum: Quorum;
  readonly #reported = new ReportedKeys();
  readonly #cursors: ListCursors<Place>;

  /** `undefined`: a node cannot list. */
  static of(quorum: Quorum): RedlockList | undefined {
    const canList = quorum.nodes.every(({ store }) => typeof store.list === 'function');
    return canList ? new RedlockList(quorum) : undefined;
  }

  private constructor(quorum: Quorum) {
    this.#quorum = quorum;
    this.#cursors = new ListCursors('redlock', ...quorum.nodes.map(({ name }) => name));
  }

  /** Rejects with `QuorumError` when too few nodes answer. */
  async page({ match, cursor, limit }: LockListQuery): Promise<LockPage> {
    const place = this.#cursors.read(cursor) ?? { list: randomUUID(), node: 0, failed: [] };
    const { list, node } = place;
    const page = await pageOf(this.#quorum, node, { match, limit, cursor: place.cursor });
    const failed = 'said' in page ? [...place.failed, page] : place.failed;
    if (failed.length >= this.#quorum.majority) throw this.#failure(failed);
    const keys = 'said' in page ? [] : page.locks.map(({ key }) => key);
    const found = keys.filter((key) => !this.#reported.has(list, key));
    const seen = await Promise.all(found.map((key) => inspectAll(this.#quorum, key)));
    const locks = seen.filter((each) => each !== undefined);
    for (const { key } of locks) this.#reported.add(list, key);
    const next = 'said' in page ? undefined : page.cursor;
    const told = failed.length > 0 ? { unreachable: failed } : {};
    if (next === undefined && node + 1 === this.#quorum.nodes.length) {
      this.#reported.forget(list);
      return { locks, ...told };
    }
    const last = { list, node: next === undefined ? node + 1 : node, cursor: next, failed };
    return { locks, ...told, cursor: this.#cursors.write(last) };
  }

  #failure(failed: readonly NodeReport[]): QuorumError {
    const { nodes } = this.#quorum;
    const all = nodes.map(({ name }) => failed.find(({ node }) => node === name) ?? { node: name, said: 'answered' }); // prettier-ignore
    return new QuorumError({
      ended: endedWith(nodes.length - failed.length, nodes, 'listed'),
      nodes: all,
    });
  }
}
