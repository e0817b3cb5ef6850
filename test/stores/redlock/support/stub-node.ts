import { MemoryLockStore } from 'nest-holdfast/core';
import type {
  AcquireRequest,
  Lease,
  LockInspection,
  LockListQuery,
  LockPage,
  LockStore,
} from 'nest-holdfast/core';
import type { FakeClock } from 'nest-holdfast/testing';
import { deferred } from '../../../core/support/outcome';
import type { StubLink } from './stub-link';

type Verb = 'acquire' | 'extend' | 'release' | 'raise' | 'inspect' | 'list';

/** A node in memory that a test can break. */
export class StubNode implements LockStore {
  readonly name = 'stub';
  readonly supports = { fencing: true, ttl: true, manyKeys: true } as const;
  /** The calls that it got, in order. */
  readonly calls: Verb[] = [];
  /** Calls that have no answer yet. */
  open = 0;
  closes = 0;
  readonly server: StubLink | undefined;
  #memory: MemoryLockStore;
  readonly #clock: FakeClock;
  #failure: Error | undefined;
  #isStopped = false;
  #held: ReturnType<typeof deferred<void>> | undefined;

  constructor(clock: FakeClock, server?: StubLink) {
    this.#clock = clock;
    this.#memory = new MemoryLockStore(clock);
    this.server = server;
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const lease = await this.#call('acquire', () => this.#memory.tryAcquire(request));
    const memory = this.#memory;
    const unlessForgotten = async (ask: () => Promise<boolean>) => memory === this.#memory && ask();
    const call = (verb: Verb, ask: () => Promise<boolean>) =>
      this.#call(verb, () => unlessForgotten(ask));
    return (
      lease && {
        fencingToken: lease.fencingToken!,
        extend: (ttl) => call('extend', () => lease.extend(ttl)),
        release: () => call('release', () => lease.release()),
        raiseFencing: (range) => call('raise', () => lease.raiseFencing!(range)),
      }
    );
  }

  inspect(key: string): Promise<LockInspection | undefined> {
    return this.#call('inspect', () => this.#memory.inspect(key));
  }

  list(query: LockListQuery): Promise<LockPage> {
    return this.#call('list', () => this.#memory.list(query));
  }

  async close(): Promise<void> {
    this.closes++;
  }

  /** Carries out each call, and keeps its reply until `pass`. */
  holdReplies(): void {
    this.#held ??= deferred();
  }

  /** Does nothing before `pass`. */
  stop(): void {
    this.holdReplies();
    this.#isStopped = true;
  }

  /** Refuses everything with `error`, or no longer. */
  fail(error: Error | undefined): void {
    this.#failure = error;
  }

  pass(): void {
    this.#isStopped = false;
    this.#held?.resolve();
    this.#held = undefined;
  }

  /** Forgets all locks. */
  forget(): void {
    this.#memory = new MemoryLockStore(this.#clock);
  }

  /** The holder of the key, read without a call to the node. */
  async holder(key: string): Promise<string | undefined> {
    return (await this.#memory.inspect(key))?.holder;
  }

  /** Another holder takes the key. */
  async occupy(key: string, ttl = 60_000): Promise<Lease> {
    const request = { key, keys: [key], token: `of ${Math.random()}`, ttl, holder: 'somebody' };
    return (await this.#memory.tryAcquire(request))!;
  }

  /** Its counter is ahead, as if it had granted much more than others. */
  async count(upTo: bigint): Promise<void> {
    const lease = await this.occupy('for its counter');
    await lease.raiseFencing!({ from: upTo, to: upTo });
    await lease.release();
  }

  async #call<T>(verb: Verb, run: () => Promise<T>): Promise<T> {
    this.calls.push(verb);
    this.open++;
    const held = this.#held?.promise;
    try {
      if (this.#isStopped) await held;
      if (this.#failure) throw this.#failure;
      const answer = await run();
      if (held) await held;
      return answer;
    } finally {
      this.open--;
    }
  }
}
