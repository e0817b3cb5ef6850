import type { Snapshot } from '../../api.js';
import { refusalOf } from './refusal.js';

export interface StreamListener {
  snapshot(snapshot: Snapshot): void;
  /** The server is away, or refuses. `why`: in words, where it is known. */
  lost(why: string | undefined): void;
}

/** Milliseconds before a new try: twice as long after each that failed. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 8_000;
/** A stream that has been silent for that many rounds and this long is given up. */
const SILENT_ROUNDS = 3;
const SILENT_FOR = 10_000;

/** Snapshots of one query, until `close`. Opens a stream again whenever it ends. */
export class EventStream {
  readonly #query: string;
  readonly #listener: StreamListener;
  #source: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause = FIRST_PAUSE;

  constructor(query: string, listener: StreamListener) {
    this.#query = query;
    this.#listener = listener;
    this.#open();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }

  #open(): void {
    const source = new EventSource(`api/events?${this.#query}`);
    this.#source = source;
    source.addEventListener('snapshot', ({ data }: MessageEvent<string>) => {
      this.#pause = FIRST_PAUSE;
      const snapshot = JSON.parse(data) as Snapshot;
      this.#listener.snapshot(snapshot);
      this.#watch(SILENT_FOR + SILENT_ROUNDS * snapshot.every);
    });
    source.addEventListener('bye', () => this.#lose('The server shuts down.'));
    source.addEventListener('error', () => void this.#fail(source));
    this.#watch(SILENT_FOR * SILENT_ROUNDS);
  }

  #watch(within: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lose('The server is silent.'), within);
  }

  /** A stream that the browser has given up was refused, rather than cut off. */
  async #fail(source: EventSource): Promise<void> {
    const wasRefused = source.readyState === EventSource.CLOSED;
    source.close();
    const why = wasRefused ? await refusalOf(`api/snapshot?${this.#query}`) : undefined;
    if (this.#source === source) this.#lose(why);
  }

  #lose(why: string | undefined): void {
    this.close();
    this.#listener.lost(why);
    this.#timer = setTimeout(() => this.#open(), this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
  }
}
