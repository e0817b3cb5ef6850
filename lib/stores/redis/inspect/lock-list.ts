import type { LockListQuery, LockPage } from '../../../core/contract/lock-inspection.js';
import { KeyGlob } from '../../../core/list/key-glob.js';
import { ListCursors } from '../../../core/list/list-cursor.js';
import { driverError } from '../../../redis-client/driver-error.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';
import { canScan, globOfStart } from '../../../redis-client/scan-client.js';
import type { SilenceWatch } from '../../../redis-client/silence-watch.js';
import type { ServerKeys } from '../keys/server-keys.js';
import { asList, asText, unknownReply } from '../lua/replies.js';
import type { Inspector } from './inspector.js';
import { layoutOf, runIdOf } from './masters.js';
import type { Master } from './masters.js';

/** Keys that one SCAN looks at. */
const MOST_SCANNED = 500;
/** SCANs of one page. */
const MOST_SCANS = 20;
const START = '0';

/** Where a page has ended. */
interface Place {
  readonly layout: string;
  /** The master that comes next. Missing: all have been scanned. */
  readonly master?: string;
  readonly runId: string;
  /** The master's own cursor. */
  readonly scan: string;
  /** Keys that were found, and had no room in the page. */
  readonly rest: readonly string[];
}

interface Context {
  readonly client: RedisClient;
  readonly keys: ServerKeys;
  readonly inspector: Inspector;
  readonly silence: Pick<SilenceWatch, 'asked'>;
}

/** `undefined` for a client that cannot scan. */
export function lockListOf(context: Context): LockList | undefined {
  return canScan(context.client) ? new LockList(context) : undefined;
}

/**
 * Walks the names of each master, which costs the locks themselves nothing. SCAN finds each name that is there all the time, as
 * long as its server is the same: with another one, and where slots of a Cluster have moved, the walk begins again.
 */
class LockList {
  readonly #context: Context;
  readonly #cursors: ListCursors<Place>;

  constructor(context: Context) {
    this.#context = context;
    this.#cursors = new ListCursors('redis', context.keys.prefix);
  }

  async page({ match, cursor, limit }: LockListQuery): Promise<LockPage> {
    const { client, inspector } = this.#context;
    const place = this.#cursors.read(cursor);
    const { masters, stamp: layout } = await layoutOf(client);
    const walk = new Walk(this.#context, masters, new KeyGlob(match));
    await walk.resume(place?.layout === layout ? place : undefined, place?.rest ?? []);
    await walk.find(limit);
    const locks = await inspector.many([...walk.found].slice(0, limit));
    const next = walk.placeAfter(limit);
    return next ? { locks, cursor: this.#cursors.write({ layout, ...next }) } : { locks };
  }
}

/** The walk of one page. */
class Walk {
  readonly found = new Set<string>();
  readonly #context: Context;
  readonly #glob: KeyGlob;
  readonly #masters: readonly Master[];
  readonly #pattern: string;
  #index = 0;
  #runId = '';
  #scan = START;

  constructor(context: Context, masters: readonly Master[], glob: KeyGlob) {
    this.#context = context;
    this.#masters = masters;
    this.#glob = glob;
    this.#pattern = globOfStart(context.keys.startOf(glob.start));
  }

  /** Goes on at `place`, or begins again where its server is not the same any more. */
  async resume(place: Place | undefined, rest: readonly string[]): Promise<void> {
    for (const key of rest) this.found.add(key);
    if (place) this.#index = this.#masters.findIndex(({ name }) => name === place.master);
    if (place && place.master === undefined) this.#index = this.#masters.length;
    if (this.#index < 0) this.#index = 0; // the Cluster has lost it, and its layout has not changed yet
    const master = this.#masters[this.#index];
    if (!master) return;
    this.#runId = await runIdOf(master);
    if (place?.master === master.name && place.runId === this.#runId) this.#scan = place.scan;
  }

  /** Small steps where locks are close together, so that they fit into the page; large ones where they are rare. */
  async find(limit: number): Promise<void> {
    let isRare = false;
    for (let scans = 0; scans < MOST_SCANS && this.found.size < limit; scans++) {
      const master = this.#masters[this.#index];
      if (!master) return;
      const room = Math.min(limit - this.found.size, MOST_SCANNED);
      const count = isRare ? MOST_SCANNED : room;
      const { next, keys } = await this.#step(master, count);
      isRare = keys.length === 0;
      if (keys.length > room && count > room) continue; // again, in a smaller step
      for (const key of keys) this.found.add(key);
      this.#scan = next;
      if (next === START) await this.#toNext();
    }
  }

  placeAfter(limit: number): Omit<Place, 'layout'> | undefined {
    const master = this.#masters[this.#index]?.name;
    const rest = [...this.found].slice(limit);
    if (master === undefined && rest.length === 0) return undefined;
    return { ...(master !== undefined && { master }), runId: this.#runId, scan: this.#scan, rest };
  }

  async #toNext(): Promise<void> {
    const master = this.#masters[++this.#index];
    this.#runId = master ? await runIdOf(master) : '';
  }

  async #step({ client }: Master, count: number): Promise<{ next: string; keys: string[] }> {
    const { keys, silence } = this.#context;
    silence.asked();
    const reply = await client
      .scan(this.#scan, 'MATCH', this.#pattern, 'COUNT', count, 'TYPE', 'string')
      .catch((error: unknown) => {
        throw driverError(error);
      });
    const [next, names] = asList(reply, 2);
    if (!Array.isArray(names)) throw unknownReply('a list of names', names);
    const found = names.flatMap((name) => keys.keyOf(asText(name)) ?? []);
    return { next: asText(next), keys: found.filter((key) => this.#glob.matches(key)) };
  }
}
