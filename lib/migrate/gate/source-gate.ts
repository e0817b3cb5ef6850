import { randomUUID } from 'node:crypto';
import { inRootContext } from '../../core/async/root-context.js';
import { monotonicTime } from '../../core/async/clock.js';
import { sleep, waitAtMost } from '../../core/async/sleep.js';
import type { Clock } from '../../core/async/clock.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import type { LockStore } from '../../core/contract/lock-store.js';
import { giveBack } from '../../core/store/grant.js';
import { MigrationError } from '../plan/migration-error.js';
import type { ResolvedMigration } from '../plan/migrate-options.js';
import { isCredentialRefusal } from './credential-refusal.js';
import { barrierError, openError, unknownError } from './gate-errors.js';

/** Milliseconds between two looks. */
const LOOK = 1_000;
/** Milliseconds for an answer of `from`. */
const TIMEOUT = 2_000;
/** Milliseconds for which an application that starts waits for `from` to answer. */
const LONGEST_SILENCE = 15_000;

/** `refused`: the old credential. `silent`: it is not known whether it works. */
type Answer = { readonly is: 'open' | 'refused' } | { readonly is: 'silent'; readonly why: string };

/**
 * Lets nothing through before `from` has refused the old credential for `largestTtl`: what was granted with it is then over, and
 * nothing can be granted with it any more. A server that is away proves nothing.
 */
export class SourceGate {
  readonly #from: LockStore | undefined;
  readonly #clock: Clock;
  readonly #largestTtl: number;
  #isOpen: boolean;
  #isClosed = false;
  /** By the monotonic clock: when the credential was refused, and in no answer since accepted. */
  #refusedSince: number | undefined;
  #look: Promise<void> | undefined;
  #isWatching = false;
  #error: MigrationError;

  constructor({ from, clock, largestTtl, fromClosed }: ResolvedMigration) {
    this.#from = from;
    this.#clock = clock;
    this.#largestTtl = largestTtl;
    this.#isOpen = fromClosed;
    this.#error = unknownError(from, 'it was not asked yet');
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Rejects with `MigrationError` while it is shut. */
  async check(): Promise<void> {
    if (this.#isOpen) return;
    this.watch();
    await (this.#look ??= this.#once());
    if (!this.#isOpen) throw this.#error;
  }

  /** Resolves once it is open. Rejects where the old credential still works, and where `from` does not answer. */
  async opened(): Promise<void> {
    const since = this.#clock.now();
    for (;;) {
      const error = await this.check().then(() => undefined, asMigrationError);
      if (!error) return;
      const isSilent = error.code === 'LOCK_MIGRATE_FROM_UNKNOWN';
      const isTooLong = isSilent && this.#clock.now() - since > LONGEST_SILENCE;
      if (error.code === 'LOCK_MIGRATE_FROM_OPEN' || isTooLong || this.#isClosed) throw error;
      await sleep(this.#clock, LOOK / 2);
    }
  }

  /** Looks again and again, so that the time counts from the first refusal on. */
  watch(): void {
    if (this.#isWatching || this.#isOpen) return;
    this.#isWatching = true;
    void inRootContext(() => this.#watch());
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Never rejects. */
  async #watch(): Promise<void> {
    while (!this.#isOpen && !this.#isClosed) {
      await (this.#look ??= this.#once());
      await sleep(this.#clock, LOOK, undefined, true);
    }
  }

  /** Never rejects. */
  async #once(): Promise<void> {
    try {
      const sentAt = monotonicTime(this.#clock);
      this.#heard(await this.#ask(), sentAt);
    } finally {
      this.#look = undefined;
    }
  }

  #heard(answer: Answer, sentAt: number): void {
    if (answer.is === 'silent') {
      this.#error = unknownError(this.#from, answer.why);
    } else if (answer.is === 'open') {
      this.#refusedSince = undefined;
      this.#error = openError(this.#from);
    } else {
      this.#refusedSince ??= monotonicTime(this.#clock);
      const rest = this.#largestTtl - (sentAt - this.#refusedSince);
      this.#isOpen = rest <= 0;
      this.#error = barrierError(this.#from, this.#largestTtl, Math.ceil(rest));
    }
  }

  async #ask(): Promise<Answer> {
    const from = this.#from!;
    const asked = askFor(from).then(
      (): Answer => ({ is: 'open' }),
      (error: unknown): Answer =>
        isCredentialRefusal(error) ? { is: 'refused' } : { is: 'silent', why: reasonOf(error) },
    );
    if (await waitAtMost(this.#clock, TIMEOUT, asked, true)) return asked;
    const failure = from.connectionFailure?.(true);
    if (isCredentialRefusal(failure)) return { is: 'refused' };
    return { is: 'silent', why: failure === undefined ? `no answer within ${TIMEOUT} ms` : reasonOf(failure) }; // prettier-ignore
  }
}

/** Rejects where the store cannot be used. */
async function askFor(from: LockStore): Promise<void> {
  const key = `holdfast:migration:${randomUUID()}`;
  if (from.inspect) return void (await from.inspect(key));
  giveBack(await from.tryAcquire({ key, keys: [key], token: randomUUID(), ttl: LOOK }));
}

function asMigrationError(error: unknown): MigrationError {
  if (error instanceof MigrationError) return error;
  throw error;
}
