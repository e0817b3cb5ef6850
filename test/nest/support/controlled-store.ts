import { type AcquireRequest, type Lease, MemoryLockStore } from 'nest-holdfast';

/** Locks in memory, with answers that come when a test wants, fail when it wants, and sessions that it ends. */
export class ControlledStore extends MemoryLockStore {
  /** Attempts so far. */
  attempts = 0;
  /** Attempts are answered when this settles; they fail when it rejects. */
  answer: Promise<void> = Promise.resolve();
  #session = new AbortController();

  /** How many stand in line now. */
  get waiters(): number {
    return this.queue.count();
  }

  override async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    this.attempts++;
    const lost = this.#session.signal;
    const lease = await super.tryAcquire(request);
    await this.answer;
    return lease && { ...lease, lost };
  }

  /** All locks that are held are lost. */
  endSession(): void {
    this.#session.abort();
    this.#session = new AbortController();
  }
}
