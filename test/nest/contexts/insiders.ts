import type { Lock } from 'nest-holdfast';

/** The request of a call that is inside. */
interface Asked {
  readonly keys: readonly string[];
  readonly isReader: boolean;
  readonly reentrant: boolean;
}

/** One call that is inside. */
export class Insider {
  readonly lock: Lock;
  readonly asked: Asked;
  /** Of the lease. Missing for readers, who may be together in any case. */
  readonly token: bigint | undefined;
  hasReleased = false;
  hasDowngraded = false;

  constructor(lock: Lock, asked: Asked) {
    this.lock = lock;
    this.asked = asked;
    this.token = lock.mode === 'write' ? lock.fencingToken : undefined;
  }

  get reads(): boolean {
    return this.asked.isReader || this.hasDowngraded;
  }

  get name(): string {
    const { keys, isReader, reentrant } = this.asked;
    return `a ${reentrant ? 'reentrant ' : ''}${isReader ? 'reader' : 'writer'} of ${keys.join()}`;
  }
}

/** The calls inside of each key, and whether they may be there together. */
export class Insiders {
  readonly wrong: string[] = [];
  entered = 0;
  /** How often a call came in beside another because it had asked for it. */
  shared = 0;
  readonly #inside = new Set<Insider>();

  /** A call has been granted its lock: the calls inside must allow it. */
  enter(newcomer: Insider): void {
    this.check();
    this.entered++;
    for (const other of this.#metBy(newcomer)) {
      if (newcomer.asked.isReader && other.reads) continue;
      const isShare = newcomer.token !== undefined && newcomer.token === other.token;
      if (isShare && newcomer.asked.reentrant) this.shared++;
      else this.wrong.push(`${newcomer.name} came in beside ${other.name}, by ${isShare ? 'its' : 'another'} lease`); // prettier-ignore
    }
    this.#inside.add(newcomer);
  }

  leave(insider: Insider): void {
    this.check();
    this.#inside.delete(insider);
  }

  /** Readers may come in. */
  downgraded(insider: Insider): void {
    for (const other of this.#metBy(insider))
      if (!other.reads) this.wrong.push(`${insider.name} was downgraded beside ${other.name}`);
  }

  /** No lock has ended but by its own release, or its loss. */
  check(): void {
    for (const insider of this.#inside)
      if (insider.lock.state === 'released' && !insider.hasReleased)
        this.wrong.push(`the lock of ${insider.name} was freed by another`);
  }

  #metBy({ lock, asked: { keys } }: Insider): Insider[] {
    return [...this.#inside].filter(
      (other) =>
        other.lock !== lock &&
        other.lock.isHeld &&
        other.asked.keys.some((key) => keys.includes(key)),
    );
  }
}
