import { inRootContext } from '../../../core/async/root-context.js';
import { sleep } from '../../../core/async/sleep.js';
import type { Clock } from '../../../core/async/clock.js';
import { within } from '../client/bounded.js';
import { isWatchResponse } from '../client/etcd-answers.js';
import type { EtcdStream, WatchRequest, WatchResponse } from '../client/etcd-client.js';
import type { EtcdConnection, EtcdMembers } from '../client/etcd-members.js';
import type { Awaited } from './queue-position.js';

/** The watches of a store, on one stream. */
export class EtcdWatches {
  readonly #members: EtcdMembers;
  readonly #clock: Clock;
  /** Milliseconds for which a silent watch is trusted. */
  readonly #patience: number;
  #stream: Promise<WatchStream> | undefined;

  constructor(members: EtcdMembers, clock: Clock, patience: number) {
    this.#members = members;
    this.#clock = clock;
    this.#patience = patience;
  }

  /**
   * Resolves `true` once the awaited change has happened, in the revision `from` or later. Resolves `false` when it can no longer
   * be told, because the connection was lost or the revision was compacted away, and once in a while: the caller then looks, and
   * watches again. Rejects when no watch can be had.
   *
   * `isEager`: also resolves at once when anything at all has changed since. etcd reports changes from before a watch only every
   * 100 ms, so a look is quicker.
   */
  async happened(what: Awaited, signal: AbortSignal, isEager: boolean): Promise<boolean> {
    const stream = await this.#open();
    const over = new AbortController();
    let isTold = false;
    const stop = () => over.abort();
    const wake = (wasTold: boolean) => {
      isTold = wasTold;
      stop();
    };
    signal.addEventListener('abort', stop, { once: true });
    const id = stream.watch(what, { wake, isEager });
    if (signal.aborted) stop();
    const check = () => void setImmediate(() => setImmediate(() => stream.check(id))); // after messages that arrived meanwhile
    const cancelCheck = this.#clock.schedule(this.#members.timeout, check, true);
    await sleep(this.#clock, this.#patience, over.signal, true);
    cancelCheck();
    signal.removeEventListener('abort', stop);
    stream.forget(id);
    return isTold;
  }

  #open(): Promise<WatchStream> {
    if (this.#stream) return this.#stream;
    const forget = () => {
      if (this.#stream === opening) this.#stream = undefined;
    };
    const opening = inRootContext(() => this.#connect(forget));
    this.#stream = opening;
    opening.catch(forget);
    return opening;
  }

  async #connect(ended: () => void): Promise<WatchStream> {
    const connection = await this.#members.connection();
    try {
      const opened = openStream(connection, ended, () => this.#members.failed(connection));
      return await within(this.#clock, this.#members.timeout, opened);
    } catch (error) {
      this.#members.failed(connection);
      throw error;
    }
  }
}

async function openStream(
  connection: EtcdConnection,
  ended: () => void,
  silent: () => void,
): Promise<WatchStream> {
  const raw = await connection.client.watchClient.watch();
  const stream = new WatchStream(raw, ended, silent);
  connection.keep(raw, () => stream.end());
  return stream;
}

/** A waiter for a change after `from`. */
interface Watching {
  readonly from: bigint;
  readonly isEager: boolean;
  /** `wasTold`: it has happened. */
  readonly wake: (wasTold: boolean) => void;
  /** The server has confirmed the watch. */
  isSet?: boolean;
}

class WatchStream {
  readonly #raw: EtcdStream<WatchRequest, WatchResponse>;
  readonly #ended: () => void;
  readonly #silent: () => void;
  readonly #watching = new Map<string, Watching>();
  #count = 0;
  #hasEnded = false;

  constructor(raw: EtcdStream<WatchRequest, WatchResponse>, ended: () => void, silent: () => void) {
    this.#raw = raw;
    this.#ended = ended;
    this.#silent = silent;
    raw.on('data', (response) => {
      if (isWatchResponse(response)) this.#heard(response);
      else raw.cancel(); // the waiter looks, and watches anew
    });
  }

  watch({ key, range_end, from, until }: Awaited, who: Omit<Watching, 'from'>): string {
    const id = String(++this.#count);
    if (this.#hasEnded) {
      who.wake(false);
      return id;
    }
    this.#watching.set(id, { ...who, from: BigInt(from) });
    const range = { key, ...(range_end && { range_end }), start_revision: from };
    const filters = until === 'gone' ? (['Noput'] as const) : [];
    this.#raw.write({ create_request: { watch_id: id, ...range, filters } });
    return id;
  }

  /** Reports when the server has not even confirmed the watch: an open connection may let nothing through any more. */
  check(id: string): void {
    const watching = this.#watching.get(id);
    if (watching && !watching.isSet) this.#silent();
  }

  /** Does nothing when the server has ended the watch. */
  forget(id: string): void {
    if (!this.#watching.delete(id) || this.#hasEnded) return;
    this.#raw.write({ cancel_request: { watch_id: id } });
  }

  end(): void {
    this.#hasEnded = true;
    this.#ended();
    for (const { wake } of this.#watching.values()) wake(false);
    this.#watching.clear();
  }

  #heard({ watch_id, created, canceled, compact_revision, events, header }: WatchResponse): void {
    const watching = this.#watching.get(watch_id);
    if (watching) watching.isSet = true;
    if (!canceled) {
      const isLate = created && watching?.isEager && BigInt(header.revision) >= watching.from;
      if (isLate || events.length > 0) watching?.wake(events.length > 0);
      return;
    }
    this.#watching.delete(watch_id);
    if (compact_revision !== '0') watching?.wake(false);
    else if (watching || watch_id.startsWith('-')) this.#raw.cancel(); // refused: its login may have run out
  }
}
