import type { Snapshot } from '../../api.js';
import { askOnce } from './ask-once.js';

export interface StreamListener {
  snapshot(snapshot: Snapshot): void;
  /** The server is away, or refuses. `why`: in words, where it is known. */
  lost(why: string | undefined): void;
}

/** Milliseconds before a new try: twice as long after each that failed. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 8_000;
/** Milliseconds for the first snapshot of a stream: a server that is there sends it at once. */
const FIRST_WITHIN = 5_000;
/** A stream that has been silent for that many rounds and this long is given up. */
const SILENT_ROUNDS = 3;
const SILENT_FOR = 10_000;
/** Snapshots that are asked for one by one before a stream is tried again. */
const POLLS = 15;

/**
 * Snapshots of one query, until `close`. Opens a stream again whenever it ends. Where a proxy holds the stream back, the snapshots
 * are asked for one by one.
 */
export class EventStream {
  readonly #query: string;
  readonly #listener: StreamListener;
  #source: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #poll: AbortController | undefined;
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
    this.#poll?.abort();
    this.#poll = undefined;
  }

  #open(): void {
    const source = new EventSource(`api/events?${this.#query}`);
    this.#source = source;
    let hasCome = false;
    source.addEventListener('snapshot', ({ data }: MessageEvent<string>) => {
      hasCome = true;
      const snapshot = JSON.parse(data) as Snapshot;
      this.#show(snapshot);
      this.#watch(SILENT_FOR + SILENT_ROUNDS * snapshot.every);
    });
    source.addEventListener('bye', () => this.#lose('The server shuts down.'));
    source.addEventListener('error', () => {
      if (source.readyState === EventSource.CLOSED) void this.#askOneByOne(POLLS);
      else if (hasCome)
        this.#openAgain(); // the server ends a stream now and then, and a proxy any that is old
      else this.#lose(undefined);
    });
    this.#watch(FIRST_WITHIN);
  }

  #watch(within: number): void {
    clearTimeout(this.#timer);
    const giveUp = () => void this.#askOneByOne(POLLS, 'The server is silent.');
    this.#timer = setTimeout(giveUp, within);
  }

  /** `otherwise`: why there is no answer, where nothing else is known. */
  async #askOneByOne(times: number, otherwise?: string): Promise<void> {
    this.close();
    const { signal } = (this.#poll = new AbortController());
    const { snapshot, why } = await askOnce(`api/snapshot?${this.#query}`, signal);
    if (signal.aborted) return;
    if (!snapshot) return this.#lose(why ?? otherwise);
    this.#show(snapshot);
    const next = () => (times > 1 ? void this.#askOneByOne(times - 1) : this.#open());
    this.#timer = setTimeout(next, snapshot.every);
  }

  #show(snapshot: Snapshot): void {
    this.#pause = FIRST_PAUSE;
    this.#listener.snapshot(snapshot);
  }

  #lose(why: string | undefined): void {
    this.#listener.lost(why);
    this.#openAgain();
  }

  #openAgain(): void {
    this.close();
    this.#timer = setTimeout(() => this.#open(), this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
  }
}
