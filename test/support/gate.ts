/**
 * Passes, holds or drops the bytes that go one way through a proxy. All connections share the gate; each has its own lane, in
 * which bytes stay in order.
 */
export class Gate {
  /** Bytes that have arrived at the gate since it was made, whatever became of them. */
  bytes = 0;
  #mode: 'open' | 'closed' | 'dropping' = 'open';
  #delay = 0;
  readonly #lanes = new Set<Lane>();

  /** Lets everything through at once, also what was held until now. */
  pass(): void {
    this.#set('open');
  }

  /** Lets everything through `ms` after it came. */
  delay(ms: number): void {
    this.#set('open', ms);
  }

  /** Keeps everything until `pass` or `delay`. */
  hold(): void {
    this.#set('closed');
  }

  /** Loses everything that comes from now on. */
  drop(): void {
    this.#set('dropping');
  }

  /** A lane of one connection, which hands its bytes to `write` and calls `end` after the last ones. */
  lane(write: (chunk: Buffer) => void, end: () => void): Lane {
    const lane: Lane = new Lane(write, () => {
      this.#lanes.delete(lane);
      end();
    });
    lane.isOpen = this.#mode !== 'closed';
    this.#lanes.add(lane);
    return lane;
  }

  /** For the proxy: bytes that came from one side. */
  put(lane: Lane, chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#mode !== 'dropping') lane.put(chunk, this.#delay);
  }

  #set(mode: 'open' | 'closed' | 'dropping', delay = 0): void {
    this.#mode = mode;
    this.#delay = delay;
    for (const lane of this.#lanes) {
      lane.isOpen = mode !== 'closed';
      if (mode === 'open') lane.hasten(delay);
      lane.flush();
    }
  }
}

/** The bytes of one connection that go one way. */
export class Lane {
  isOpen = true;
  #waiting: { readonly chunk: Buffer; due: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isEnding = false;
  readonly #write: (chunk: Buffer) => void;
  readonly #end: () => void;

  constructor(write: (chunk: Buffer) => void, end: () => void) {
    this.#write = write;
    this.#end = end;
  }

  put(chunk: Buffer, delay: number): void {
    this.#waiting.push({ chunk, due: performance.now() + delay });
    this.flush();
  }

  /** Nothing that waits now is due later than in `delay` ms. */
  hasten(delay: number): void {
    const latest = performance.now() + delay;
    for (const entry of this.#waiting) entry.due = Math.min(entry.due, latest);
  }

  /** Writes what is due. The rest follows when its time comes, or when the gate opens. */
  flush(): void {
    clearTimeout(this.#timer);
    while (this.isOpen && this.#waiting.length > 0) {
      const wait = this.#waiting[0]!.due - performance.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.flush(), Math.ceil(wait));
        return;
      }
      this.#write(this.#waiting.shift()!.chunk);
    }
    if (this.#isEnding && this.#waiting.length === 0) this.#end();
  }

  /** No more bytes will come; those that wait are still delivered. */
  end(): void {
    this.#isEnding = true;
    this.flush();
  }

  /** Loses what waits. */
  clear(): void {
    this.#waiting = [];
    this.end();
  }
}
