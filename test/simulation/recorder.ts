import { type Entry, type ProcessHistory, READERS } from '../support/histories/history.js';
import type { Action } from './schedule.js';
import type { World } from './world/world.js';

/** The answers to the callers of one process and their beliefs, as a history. Several keys of one call are several asks of it. */
export class Recorder {
  readonly entries: Entry[] = [];
  /** Against the rules of one call, which no history shows. */
  readonly violations: string[] = [];
  killedAt: number | undefined;
  readonly #world: World;
  readonly #process: string;
  readonly #open = new Set<number>();
  readonly #ends = new Map<number, number>();
  readonly #keys = new Map<number, readonly string[]>();

  constructor(world: World, process: string) {
    this.#world = world;
    this.#process = process;
  }

  /** Calls without an answer so far. */
  get open(): readonly number[] {
    return [...this.#open];
  }

  get history(): ProcessHistory {
    return { process: this.#process, entries: this.entries, killedAt: this.killedAt };
  }

  asked(ask: number, { keys, permits }: Action): void {
    this.#open.add(ask);
    this.#keys.set(ask, keys);
    this.#say(`${ask} asks for ${keys.join('+')}${permits ? ' shared' : ''}`);
    if (keys.length > 1) return; // they block no key while they wait for another: others may overtake them
    this.#each(ask, (id, key, at) => ({ is: 'asked', ask: id, key, at, permits: permits === Infinity ? READERS : permits })); // prettier-ignore
  }

  cancelled(ask: number): void {
    this.#say(`${ask} gives up`);
    this.#each(ask, (id, _, at) => ({ is: 'cancelled', ask: id, at }));
  }

  granted(ask: number, keys: readonly string[], token?: number, permits?: number): void {
    this.#say(`${ask} has ${keys.join('+')}`);
    const from = 'attempt';
    this.#each(ask, (id, key, at) => ({ is: 'granted', ask: id, key, at, token, permits, from }));
  }

  refused(ask: number, why: string): void {
    this.#open.delete(ask);
    this.#say(`${ask} is refused: ${why.replace(/[\w-]{20,}/g, '…')}`);
    this.#each(ask, (id, _, at) => ({ is: 'refused', ask: id, at, why }));
  }

  /** The holder looked, and still had it. */
  seen(ask: number): void {
    this.#each(ask, (id, _, at) => ({ is: 'seen', ask: id, at }));
  }

  /** The work has ended. */
  ended(ask: number): void {
    this.#say(`${ask} has done its work`);
    this.#ends.set(ask, this.#world.stamp());
  }

  /** The call says that its work was protected to the end. */
  kept(ask: number): void {
    this.#open.delete(ask);
    const at = this.#ends.get(ask);
    if (at === undefined) {
      if (!this.#wasLost(ask)) return;
      this.violations.push(`silent loss: ask ${ask} lost its lock, and its call succeeded`);
      return;
    }
    this.#each(ask, (id) => ({ is: 'seen', ask: id, at }));
    this.#say(`${ask} is answered`);
  }

  lost(ask: number): void {
    if (this.#open.has(ask)) this.#say(`${ask} has lost its lock`);
    this.#each(ask, (id, _, at) => ({ is: 'lost', ask: id, at }));
  }

  /** The call says that the lock was lost. */
  toldLoss(ask: number): void {
    this.lost(ask);
    this.#open.delete(ask);
  }

  violation(text: string): void {
    this.violations.push(text);
  }

  #wasLost(ask: number): boolean {
    return this.entries.some((entry) => entry.is === 'lost' && Math.floor(entry.ask) === ask);
  }

  #say(what: string): void {
    this.#world.say(this.#process, what);
  }

  #each(ask: number, entryOf: (id: number, key: string, at: number) => Entry): void {
    const at = this.#world.stamp();
    this.#keys.get(ask)!.forEach((key, index) => this.entries.push(entryOf(ask + index / 10, key, at))); // prettier-ignore
  }
}
