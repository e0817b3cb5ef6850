import { DEAD, type Waiter, callUp } from './lock-model.js';

export const KEY = 'lock:a';

/** The number in the value of a sharer; nothing in that of a writer. */
export function permitsOf(value: string | undefined): number | undefined {
  const text = /\*(\w+)\./.exec(value ?? '')?.[1];
  return text === 'inf' ? Infinity : text === undefined ? undefined : Number(text);
}

/** As a reader, what a writer of this value is called. */
export function asReader(value: string): string {
  return value.replace('.', '*inf.');
}

/** The expected effect and messages of each script on one lock that readers, writers and permit holders want. */
export class SharingModel {
  holders: string[] = [];
  line: Waiter[] = [];
  said: string[] = [];
  readonly #note: (outcome: string) => void;

  /** `note` gets the name of every outcome. */
  constructor(note: (outcome: string) => void) {
    this.#note = note;
  }

  take(value: string): unknown {
    return permitsOf(value) === undefined ? this.#takeAlone(value) : this.#share(value);
  }

  wait(value: string): unknown {
    if (this.holders.includes(value)) return this.#as('wait: had it', [1]);
    const other = this.#otherPermits(value);
    if (other !== undefined) return this.#as('wait: other permits', [2, other]);
    const wasEmpty = this.line.length === 0;
    const found = this.line.findIndex((waiter) => waiter.value === value);
    const place = found < 0 ? this.line.length : found;
    this.line[place] = { value, isLapsed: false };
    if (this.#isAlone) {
      if (wasEmpty) this.#tell(this.holders[0]!, `! ${KEY}`);
    } else this.#admit(value);
    if (this.holders.includes(value)) return this.#as('wait: is let in', [1]);
    return this.#as('wait: stands in line', [0, 'ttl', place]);
  }

  leave(value: string): unknown {
    const isConcerned = !this.#isAlone || this.holders.includes(value);
    const wasHeld = this.holders.length > 0;
    this.line = this.line.filter((waiter) => waiter.value !== value);
    this.#callUp();
    this.#remove(value);
    if (isConcerned && wasHeld) this.#admit();
    return null;
  }

  release(value: string): unknown {
    const isShared = permitsOf(value) !== undefined;
    if (!this.holders.includes(value)) return this.#as('release: lost', 0);
    this.#remove(value);
    if (isShared) this.#admit();
    else this.#handOver();
    return this.#as(isShared ? 'release: shared' : 'release: alone', 1);
  }

  extend(value: string): unknown {
    const isOurs = this.holders.includes(value);
    if (isOurs && permitsOf(value) !== undefined) this.#admit();
    return this.#as(`extend: ${isOurs}`, [Number(isOurs)]);
  }

  /** By a writer. */
  renew(value: string): unknown {
    if (!this.holders.includes(value)) return this.#as('renew: not ours', null);
    return this.#as('renew: ours', ['fence', Number(this.line.length > 0)]);
  }

  /** By a writer. */
  leaveFree(value: string): unknown {
    if (!this.holders.includes(value)) return this.#as('leave free: not ours', null);
    this.holders = [];
    const isAwaited = this.line.length > 0;
    return this.#as(`leave free: ${isAwaited ? 'others wait' : 'no waiter'}`, Number(isAwaited));
  }

  handOn(): unknown {
    const isFree = this.holders.length === 0;
    if (isFree) this.#handOver();
    return this.#as(`hand on: ${isFree ? 'free' : 'held'}`, null);
  }

  downgrade(value: string): unknown {
    const reader = asReader(value);
    if (![value, reader].some((each) => this.holders.includes(each)))
      return this.#as('downgrade: lost', 0);
    if (this.holders.includes(value)) this.holders = [reader];
    this.#admit();
    return this.#as('downgrade: ours', 1);
  }

  /** The ttl of a holder passes. */
  expire(value: string): void {
    this.#remove(value);
  }

  /** Those in line ask for different permits, and no holder says which of them count: the scripts may go by either. */
  get isUndecided(): boolean {
    const inUse = this.line
      .filter(({ isLapsed }) => !isLapsed)
      .map(({ value }) => permitsOf(value));
    const isDecided = permitsOf(this.holders[0]) !== undefined;
    return !isDecided && new Set(inUse.filter((each) => each !== undefined)).size > 1;
  }

  get #isAlone(): boolean {
    return this.holders.length > 0 && permitsOf(this.holders[0]) === undefined;
  }

  #takeAlone(value: string): unknown {
    if (this.holders.some((holder) => holder !== value)) return this.#as('take: refused', null);
    if (this.holders.length > 0) return this.#as('take: had it', 'fence');
    this.#handOver();
    if (this.holders.length > 0) return this.#as('take: those in line are first', null);
    this.holders = [value];
    return this.#as('take: granted', 'fence');
  }

  #share(value: string): unknown {
    if (this.line.length > 0 && !this.#isAlone) this.#admit();
    const other = this.#otherPermits(value);
    if (other !== undefined) return this.#as('share: other permits', [1, other]);
    if (this.holders.includes(value)) return this.#as('share: had it', 1);
    if (this.line.length > 0 || !this.#hasRoom(value)) return this.#as('share: refused', null);
    this.holders.push(value);
    return this.#as('share: granted', 1);
  }

  #otherPermits(value: string): string | undefined {
    const asked = permitsOf(value);
    const alive = this.line.filter(({ isLapsed }) => !isLapsed).map((waiter) => waiter.value);
    const inUse = [...this.holders, ...alive].map(permitsOf).find((each) => each !== undefined);
    if (asked === undefined || inUse === undefined || inUse === asked) return undefined;
    return inUse === Infinity ? 'inf' : String(inUse);
  }

  #hasRoom(value: string): boolean {
    if (this.holders.length === 0) return true;
    const permits = permitsOf(this.holders[0]);
    return permits !== undefined && permits === permitsOf(value) && this.holders.length < permits;
  }

  /** By a script that knows nothing of sharers: to the first one that is alive. */
  #handOver(): void {
    for (let next = this.line.shift(); next; next = this.line.shift()) {
      this.#callUp();
      if (next.isLapsed || !this.#tell(next.value, next.value)) continue;
      this.#note(`hand off: to ${permitsOf(next.value) === undefined ? 'a writer' : 'a sharer'}`);
      this.holders = [next.value];
      return;
    }
  }

  #admit(caller?: string): void {
    let count = 0;
    for (let next = this.line[0]; next; next = this.line[0]) {
      if (!next.isLapsed && !this.#hasRoom(next.value)) break;
      this.line.shift();
      this.#callUp();
      if (next.isLapsed) continue;
      if (next.value !== caller && !this.#tell(next.value, next.value)) continue;
      this.holders.push(next.value);
      count += 1;
      if (this.#isAlone) break;
    }
    if (count > 0) this.#note(`admit: ${count > 1 ? 'several' : 'one'}`);
  }

  #tell(value: string, message: string): boolean {
    const store = /^[^.*]*/.exec(value)![0];
    if (store === DEAD) return false;
    this.said.push(`${store} <- ${message}`);
    return true;
  }

  #callUp(): void {
    callUp(this.line, (value, message) => this.#tell(value, message), this.#note);
  }

  #remove(value: string): void {
    this.holders = this.holders.filter((holder) => holder !== value);
  }

  #as<T>(outcome: string, reply: T): T {
    this.#note(outcome);
    return reply;
  }
}
