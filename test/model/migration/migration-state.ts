/**
 * The configuration of a process: the old one, both stores, both stores with the target's tokens, or the target alone.
 */
export type Mode = 'old' | 'dual' | 'handover' | 'to';

/**
 * - `idle`: may ask
 * - `source`: the source has granted
 * - `both`: the target, too
 * - `held`: the lock is handed out
 * - `lost`: its validity is over, or the attempt took too long
 * - `releasing`: the target has been freed, the source not yet
 * - `dead`: the process was killed
 */
export type Stage = 'idle' | 'source' | 'both' | 'held' | 'lost' | 'releasing' | 'dead';

/** No client. */
export const NOBODY = -1;

/** One key of a store. */
export interface StoreKey {
  readonly owner: number;
  readonly counter: number;
}

export interface Client {
  readonly stage: Stage;
  /** Tokens that the stores gave. */
  readonly source: number;
  readonly target: number;
  /** Acquisitions that it may still begin. */
  readonly left: number;
}

export interface State {
  readonly source: StoreKey;
  readonly target: StoreKey;
  readonly clients: readonly Client[];
  /** The largest token that was handed out. */
  readonly largest: number;
  /** The credential of the old configuration: it works, it was deleted, and that was `largestTtl` ago. */
  readonly credential: 'works' | 'deleted' | 'long deleted';
}

export function withClient(state: State, index: number, change: Partial<Client>): State {
  const clients = state.clients.map((client, at) =>
    at === index ? { ...client, ...change } : client,
  );
  return { ...state, clients };
}

/** Two states with one key have the same future. */
export function keyOf({ source, target, clients, largest, credential }: State): string {
  const each = clients.map((client) =>
    [client.stage, client.source, client.target, client.left].join(' '),
  );
  const stores = [source.owner, source.counter, target.owner, target.counter];
  return [...stores, largest, credential, ...each].join(',');
}
