/** A caller in line. `isLapsed`: the server has not heard of it for too long. */
export interface Waiter {
  readonly value: string;
  isLapsed: boolean;
}

/** A waiter that comes to this place is called up: all waiters here have slow heartbeats. */
const CALLED_UP = 4;

/** After a waiter has left. */
export function callUp(
  line: readonly Waiter[],
  tell: (value: string, message: string) => boolean,
  note: (outcome: string) => void,
): void {
  const called = line[CALLED_UP - 1];
  if (!called || called.isLapsed) return;
  const isHeard = tell(called.value, `? ${called.value}`);
  note(`call up: ${isHeard ? 'alive' : 'dead'}`);
}

/** A counter that is no larger than `from` becomes `to`. */
export interface TokenRange {
  readonly from: number;
  readonly to: number;
}

/** A message of the server: `aa <- aa.token:holder`. */
export type Said = string;

/** Milliseconds that a lock is kept, apart for each script that sets them: large enough that none passes while a test runs. */
export const TTL = { acquire: 2e6, claim: 4e6, extend: 6e6, renew: 8e6, foreign: 10e6 };

/** Tokens that are reserved for a holder that may hand the lock off. */
const BLOCK = 64;

/** A store of this name has no subscriber: its process is dead. */
export const DEAD = 'zz';
/** A store of a Cluster: the server cannot tell whether its process lives. */
export const UNCERTAIN = '~yy';

const STORE_OF = /^([^.]*)\./;

/** The expected lock, counter and queue, by the rules that the scripts promise. */
export class LockModel {
  holder: { readonly value: string; ttl: number } | undefined;
  hasCounter = false;
  /** The last token that may have been given: the one in the counter, or in the counter that was lost. */
  last = 0;
  readonly line: Waiter[] = [];
  /** Size of the last block of tokens. */
  block = 0;
  /** Tokens reserved in the current step. */
  reserved = 0;
  readonly key: string;
  readonly #say: (said: Said) => void;
  readonly #note: (outcome: string) => void;

  constructor(key: string, say: (said: Said) => void, note: (outcome: string) => void) {
    this.key = key;
    this.#say = say;
    this.#note = note;
  }

  isHeldBy(value: string): boolean {
    return this.holder?.value === value;
  }

  mint(block: number): void {
    this.hasCounter = true;
    this.block = block;
    this.reserved += block;
  }

  /** A counter that was lost is beyond nothing. */
  isBeyond(token: number): boolean {
    return this.hasCounter && this.last > token;
  }

  raise(token: number): void {
    this.hasCounter = true;
    this.last = token;
  }

  /** The first living waiter has the lock, as a claim. `caller` lives, and is not told. */
  handOver(caller?: string): void {
    for (let first = this.#leaveFirst(); first; first = this.#leaveFirst()) {
      const { value, isLapsed } = first;
      if (isLapsed) this.#note('hand off: a lapsed waiter is passed over');
      else if (value === caller || this.#tell(value, value)) {
        this.holder = { value, ttl: TTL.claim };
        this.#note(`hand off: ${value === caller ? 'to the caller' : 'to the first'}`);
        return;
      } else this.#note('hand off: a dead waiter is passed over');
    }
    this.holder = undefined;
    this.#note('hand off: to no waiter');
  }

  take(value: string): void {
    this.hold(value);
    this.mint(1);
  }

  hold(value: string): void {
    this.holder = { value, ttl: TTL.acquire };
  }

  /** The answer of `WAIT`. */
  wait(value: string): unknown[] {
    if (this.isHeldBy(value)) {
      this.#note('wait: had it already');
      return [1];
    }
    const wasEmpty = this.line.length === 0;
    const inFront = this.#stand(value);
    if (!this.holder) {
      this.handOver(value);
      if (this.isHeldBy(value)) return [1];
    } else if (wasEmpty || (inFront === 0 && value.startsWith('~'))) {
      const isHeard = this.#tell(this.holder.value, `! ${this.key}`);
      this.#note(`wait: the holder is ${isHeard ? 'told' : 'not told'}`);
    }
    this.#note('wait: stands in line');
    return [0, 'ttl', inFront];
  }

  leave(value: string): null {
    const index = this.line.findIndex((waiter) => waiter.value === value);
    if (index >= 0) this.line.splice(index, 1);
    this.#callUp();
    const had = this.isHeldBy(value);
    this.#note(`leave: ${had ? 'had it' : index >= 0 ? 'was in line' : 'was not there'}`);
    if (had) this.handOver();
    return null;
  }

  /** Whether the lock was this value's. */
  release(value: string): boolean {
    if (this.isHeldBy(value)) {
      this.#note(`release: ${this.hasCounter ? 'ours' : 'ours, its counter was lost'}`);
      this.handOver();
      return true;
    }
    this.#note(`release: ${this.holder ? 'held by another' : 'lost'}`);
    return false;
  }

  /** Leaves it without a holder. */
  leaveFree(value: string): number | null {
    if (!this.isHeldBy(value)) {
      this.#note('leave free: not ours');
      return null;
    }
    this.holder = undefined;
    this.#note(`leave free: ${this.line.length > 0 ? 'others wait' : 'no waiter'}`);
    return Number(this.line.length > 0);
  }

  /** To the first in line, if it is free. */
  handOn(): null {
    this.#note(`hand on: ${this.holder ? 'held' : 'free'}`);
    if (!this.holder) this.handOver();
    return null;
  }

  renew(value: string): unknown[] | null {
    if (!this.isHeldBy(value)) {
      this.#note('renew: not ours');
      return null;
    }
    this.#note(`renew: ours, ${this.line.length > 0 ? 'others wait' : 'no waiter'}`);
    this.holder = { value, ttl: TTL.renew };
    this.mint(BLOCK);
    return ['fence', Number(this.line.length > 0)];
  }

  renewWithTokens(value: string, { from, to }: TokenRange): unknown[] | null {
    const refusal = !this.isHeldBy(value) ? 'not ours' : this.isBeyond(from) && 'beyond';
    const others = this.line.length > 0 ? 'others wait' : 'no waiter';
    const counter = this.hasCounter ? others : 'its counter was lost';
    this.#note(`renew with tokens: ${refusal || `ours, ${counter}`}`);
    if (refusal) return null;
    this.holder = { value, ttl: TTL.renew };
    this.raise(to);
    return [String(from), Number(this.line.length > 0)];
  }

  #leaveFirst(): Waiter | undefined {
    const first = this.line.shift();
    if (first) this.#callUp();
    return first;
  }

  #callUp(): void {
    callUp(this.line, (value, message) => this.#tell(value, message), this.#note);
  }

  #stand(value: string): number {
    const index = this.line.findIndex((waiter) => waiter.value === value);
    if (index < 0) return this.line.push({ value, isLapsed: false }) - 1;
    this.#note('wait: stays in line');
    this.line[index]!.isLapsed = false;
    return index;
  }

  /** Whether a process hears it, as far as the server can tell. */
  #tell(value: string, message: string): boolean {
    const store = STORE_OF.exec(value)?.[1];
    if (store === undefined || store === DEAD) return false;
    if (store !== UNCERTAIN) this.#say(`${store} <- ${message}`);
    return true;
  }
}
