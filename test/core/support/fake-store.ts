import type { AcquireRequest, Lease, LockStore, LockStoreFeatures } from 'nest-holdfast/core';
import type { LockService } from 'nest-holdfast/core';

/** A lease that says yes to everything, unless told otherwise, and remembers what it was asked. */
export class FakeLease implements Lease {
  readonly extensions: number[] = [];
  releases = 0;
  fencingToken: bigint | undefined = 7n;
  lost: AbortSignal | undefined;
  onExtend: (ttl: number) => Promise<boolean> = () => Promise.resolve(true);
  onRelease: () => Promise<boolean> = () => Promise.resolve(true);

  extend(ttl: number): Promise<boolean> {
    this.extensions.push(ttl);
    return this.onExtend(ttl);
  }

  release(): Promise<boolean> {
    this.releases++;
    return this.onRelease();
  }
}

/** A lease that may be handed off, at once unless it has to be renewed, and unless told otherwise. */
export class PassableLease extends FakeLease {
  readonly passes: { readonly ttl: number; readonly renew: boolean }[] = [];
  onPass: (renew: boolean) => Lease | Promise<Lease | undefined> | undefined = (renew) =>
    renew ? Promise.resolve(this.next()) : this.next();

  constructor(override fencingToken = 1n) {
    super();
  }

  handOff(ttl: number, renew: boolean): Lease | Promise<Lease | undefined> | undefined {
    this.passes.push({ ttl, renew });
    return this.onPass(renew);
  }

  /** The same lease for the next holder. */
  next(): PassableLease {
    const next = new PassableLease(this.fencingToken + 1n);
    return next;
  }
}

/** A store that grants everything, unless told otherwise, and remembers what it was asked. */
export class FakeStore implements LockStore {
  readonly name = 'fake';
  readonly requests: AcquireRequest[] = [];
  readonly lease = new FakeLease();
  onAcquire: (request: AcquireRequest) => Promise<Lease | undefined> = () =>
    Promise.resolve(this.lease);

  constructor(
    readonly supports: LockStoreFeatures = { fencing: true, ttl: true, manyKeys: true },
  ) {}

  tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    this.requests.push(request);
    return this.onAcquire(request);
  }
}

interface Waiter {
  readonly request: AcquireRequest;
  readonly signal: AbortSignal;
  readonly grant: (lease: Lease) => void;
  readonly refuse: (error: unknown) => void;
}

/** Every key is held, and waiters stand in a queue until a test hands something to the first one. */
export class QueueStore extends FakeStore {
  readonly waiters: Waiter[] = [];
  /** Calls of `acquire` so far. */
  queued = 0;

  constructor(supports: LockStoreFeatures = { fencing: true, ttl: true, manyKeys: true }) {
    super(supports);
    this.onAcquire = () => Promise.resolve(undefined);
  }

  acquire(request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    this.queued++;
    return new Promise<Lease>((grant, refuse) => {
      const waiter = { request, signal, grant, refuse };
      this.waiters.push(waiter);
      signal.addEventListener('abort', () => {
        this.waiters.splice(this.waiters.indexOf(waiter), 1);
        refuse(signal.reason);
      });
    });
  }

  /** Hands a lease to the first waiter. */
  grant(lease: Lease = this.lease): void {
    this.waiters.shift()!.grant(lease);
  }
}

/** The events of a service, in order: `['held', 'jeopardy', …]`. */
export function eventsOf(locks: LockService): string[] {
  const names = [
    'held',
    'reentered',
    'jeopardy',
    'recovered',
    'lost',
    'released',
    'releaseFailed',
  ] as const;
  const seen: string[] = [];
  for (const name of names) locks.events.on(name, () => seen.push(name));
  return seen;
}
