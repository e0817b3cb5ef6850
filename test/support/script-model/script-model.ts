import { LockModel, TTL, type Said, type TokenRange } from './lock-model.js';

export interface Leased {
  readonly keys: readonly string[];
  readonly value: string;
}

export const KEYS = ['lock:a', 'lock:b'] as const;
/** A key that is no string, which is an error of one lease and not of the others in its call. */
export const ODD_KEY = 'lock:odd';
export const FOREIGNER = 'a token of another program';

/** The answers and messages that each script is to give, over all locks. 'fence' and 'ttl' stand for numbers of the server. */
export class ScriptModel {
  readonly locks: ReadonlyMap<string, LockModel>;
  /** Messages of the current step. */
  said: Said[] = [];
  readonly #note: (outcome: string) => void;

  /** `note` gets the name of every outcome. */
  constructor(note: (outcome: string) => void) {
    this.#note = note;
    const say = (said: Said) => void this.said.push(said);
    this.locks = new Map(KEYS.map((key) => [key, new LockModel(key, say, note)]));
  }

  of(key: string): LockModel {
    return this.locks.get(key)!;
  }

  beginStep(): void {
    this.said = [];
    for (const lock of this.locks.values()) lock.reserved = 0;
  }

  acquire({ keys, value }: Leased): unknown {
    if (!this.#areLocks(keys)) return this.#odd('acquire');
    const locks = keys.map((key) => this.of(key));
    const isOfAnother = ({ holder }: LockModel) => holder && holder.value !== value;
    if (locks.some(isOfAnother)) {
      this.#note('acquire: refused');
      return refusal(locks.findIndex(isOfAnother), keys);
    }
    const isNew = locks.every(({ holder }) => !holder);
    for (const lock of locks) lock.take(value);
    if (!isNew || locks.every(({ line }) => line.length === 0)) {
      this.#note(`acquire: ${isNew ? 'granted' : 'had it already'}`);
      return 'fence';
    }
    for (const lock of locks) lock.handOver();
    if (locks.some(({ holder }) => holder)) {
      this.#note('acquire: those in line are first');
      return refusal(
        locks.findIndex(({ holder }) => holder),
        keys,
      );
    }
    for (const lock of locks) lock.hold(value);
    this.#note('acquire: those in line are dead');
    return 'fence';
  }

  wait(parts: readonly Leased[]): unknown {
    return parts.map(({ keys: [key], value }) => this.of(key!).wait(value));
  }

  release({ keys, value }: Leased): unknown {
    if (!this.#areLocks(keys)) return this.#odd('release');
    const wereOurs = keys.map((key) => this.of(key).release(value));
    return Number(wereOurs.every(Boolean));
  }

  raise({ keys, value }: Leased, { from, to }: TokenRange): unknown {
    const locks = keys.map((key) => this.of(key));
    const foreign = locks.filter((lock) => !lock.isHeldBy(value));
    if (foreign.length > 0) return this.#notRaised('not ours', foreign, locks);
    const beyond = locks.filter((lock) => lock.isBeyond(from));
    if (beyond.length > 0) return this.#notRaised('beyond', beyond, locks);
    const isWhole = locks.every(({ hasCounter }) => hasCounter);
    this.#note(`raise: ${isWhole ? 'ours' : 'ours, its counter was lost'}`);
    for (const lock of locks) lock.raise(to);
    return 1;
  }

  extend(parts: readonly Leased[]): unknown {
    return parts.map(({ keys, value }) => {
      const locks = keys.map((key) => this.locks.get(key));
      if (locks.includes(undefined)) return this.#extended('an error');
      if (!locks.every((lock) => lock!.isHeldBy(value))) return this.#extended(0);
      for (const lock of locks) lock!.holder!.ttl = TTL.extend;
      return this.#extended(1);
    });
  }

  inspect(key: string): unknown {
    const { holder, hasCounter } = this.of(key);
    this.#note(`inspect: ${holder ? 'held' : 'free'}`);
    return holder ? [holder.value, 'ttl', hasCounter ? 'counter' : null] : null;
  }

  #areLocks(keys: readonly string[]): boolean {
    return keys.every((key) => this.locks.has(key));
  }

  #odd(does: string): string {
    this.#note(`${does}: an error`);
    return 'an error';
  }

  #notRaised(why: string, because: readonly LockModel[], all: readonly LockModel[]): number {
    this.#note(`raise: ${because.length < all.length ? `one of two is ${why}` : why}`);
    return 0;
  }

  #extended(answer: unknown): unknown {
    this.#note(`extend: ${String(answer)}`);
    return answer;
  }
}

/** Of several keys, minus the number of the first that is refused. */
function refusal(index: number, keys: readonly string[]): number | null {
  return keys.length > 1 ? -index - 1 : null;
}
