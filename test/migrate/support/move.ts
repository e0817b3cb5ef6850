import { setTimeout as sleep } from 'node:timers/promises';
import type { MigrationPhase } from 'nest-holdfast/migrate';
import { now } from '../../support/histories/workers/history-store.js';
import type { Death } from '../../support/histories/workers/dying-store.js';
import type { StoreAddress } from '../../support/histories/workers/open-store.js';
import { keepCountersAhead } from './counters-ahead.js';
import type { MigrationRun, Mover } from './migration-run.js';
import { TTL } from './moved-stores.js';
import type { MovedStore } from './moved-stores.js';

const IN_A_MONTH = String((Date.now() + 30 * 86_400_000) * 1_000);

/** Between two answers of the stores to one lock: a process dies at each. */
export const DEATHS: readonly Death[] = [
  { at: 'from', once: 'granted' },
  { at: 'to', once: 'granted' },
  { at: 'from', once: 'extended' },
  { at: 'to', once: 'extended' },
  { at: 'to', once: 'released' },
  { at: 'from', once: 'released' },
];

/** Before it hands out a token that is larger than that of `from`. */
const RAISED: Death = { at: 'from', once: 'raised' };

/** A move, there and back, step by step, and what runs meanwhile. */
export class Move {
  readonly #from: MovedStore;
  readonly #to: MovedStore;
  readonly #run: MigrationRun;
  /** Fencing tokens are handed over in a phase of its own. */
  readonly #handsOver: boolean;

  constructor(from: MovedStore, to: MovedStore, run: MigrationRun) {
    this.#from = from;
    this.#to = to;
    this.#run = run;
    this.#handsOver = [from, to].some(({ bySession }) => bySession);
  }

  /** Resolves with the earliest moment at which a process with the target alone may have a lock. */
  async there(): Promise<{ readonly to: Mover[]; readonly barrier: number }> {
    const run = this.#run;
    await this.#from.letOldIn();
    const old = [await this.#start('old'), await this.#start('old')];
    await run.allWork(...old);
    await run.kill(old[0]!);
    const dual = [await this.#start('dual')];
    await run.allWork(old[1]!, ...dual);
    dual.push(await this.#start('dual'));
    await this.#die('dual', [old[1]!, ...dual]);
    const isEarly = !this.#handsOver;
    const early = isEarly ? [await this.#start('to')] : [];
    await run.allWork(...dual); // beside an old one that nobody has stopped
    const barrier = await this.#shutOldOut(old[1]!);
    const both = this.#handsOver ? await this.#handOver(dual) : dual;
    const to = isEarly ? early : [await this.#start('to')];
    await run.allWork(...both.slice(1), ...to);
    await run.kill(old[1]!, ...both);
    to.push(await this.#start('to'));
    await run.allWork(...to);
    return { to, barrier };
  }

  async back(to: readonly Mover[]): Promise<void> {
    const run = this.#run;
    const phase = this.#handsOver ? 'handover' : 'dual';
    await run.kill(to[0]!);
    const both = [await this.#start(phase)];
    await run.allWork(to[1]!, ...both);
    await this.#die(phase, [to[1]!, ...both]);
    await run.kill(to[1]!);
    both.push(await this.#start(phase));
    await run.allWork(...both);
    if (this.#from.bySession) return; // there are no larger tokens in the source
    await this.#from.letOldIn();
    await run.kill(both[0]!);
    if (this.#handsOver) {
      await run.kill(both[1]!); // tokens of the source would not grow beside those of the target
      await sleep(TTL);
    }
    const old = await this.#start('old');
    await run.allWork(old, ...(this.#handsOver ? [] : [both[1]!]));
    await run.kill(old, both[1]!);
  }

  /** One after the other. */
  async #handOver(dual: readonly Mover[]): Promise<Mover[]> {
    const run = this.#run;
    await run.kill(dual[0]!);
    // Tokens are raised by the first grants of this phase.
    if (!this.#from.bySession) await this.#die('handover', [dual[1]!], [RAISED]);
    const first = await this.#start('handover');
    await run.allWork(dual[1]!, first);
    await this.#die('handover', [dual[1]!, first]);
    await run.kill(dual[1]!);
    return [first, await this.#start('handover')];
  }

  async #shutOldOut(old: Mover): Promise<number> {
    if (this.#from.shutOldOut) {
      await this.#from.shutOldOut();
      return now() + TTL * 1e6;
    }
    await this.#run.kill(old);
    await sleep(2 * TTL); // its session is over
    return now();
  }

  /** A process dies at each step of a lock that is held in both stores, beside those that `work`. */
  async #die(
    phase: MigrationPhase,
    work: readonly Mover[],
    deaths: readonly Death[] = this.#handsOver ? DEATHS : [...DEATHS, RAISED],
  ): Promise<void> {
    const start = (death: Death) => {
      const name = `${phase}-dies-when-${death.at}-has-${death.once}`;
      return this.#run.start(this.#in(phase, death), name);
    };
    const dying = await Promise.all(deaths.map(start));
    let isOver = false;
    const died = this.#run.die(dying).finally(() => (isOver = true));
    const isAhead = this.#handsOver ? undefined : keepCountersAhead(this.#to.address, () => isOver);
    await Promise.all([died, isAhead]);
    await this.#run.allWork(...work);
  }

  #start(what: MigrationPhase | 'old'): Promise<Mover> {
    return this.#run.start(what === 'old' ? this.#from.old : this.#in(what), what);
  }

  #in(phase: MigrationPhase, death?: Death): StoreAddress {
    const { address: to } = this.#to;
    const isClosed = phase === 'to' && this.#from.bySession;
    const from = phase === 'to' ? this.#from.old : this.#from.address;
    const fencingBase = this.#handsOver ? IN_A_MONTH : undefined;
    const move = { from, to, phase, fencingBase, fromClosed: isClosed, death };
    return { kind: 'migrating', address: JSON.stringify(move) };
  }
}
