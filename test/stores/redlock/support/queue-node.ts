import type { AcquireRequest, Lease } from 'nest-holdfast/core';
import { StubNode } from './stub-node';

interface Place {
  readonly request: AcquireRequest;
  readonly resolve: (lease: Lease) => void;
  readonly reject: (error: unknown) => void;
}

/** A node in memory where callers stand in line until a test hands them the key. */
export class QueueNode extends StubNode {
  readonly line: Place[] = [];
  /** How often it was asked to pass a lease on. */
  passes = 0;

  acquire(request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    return new Promise((resolve, reject) => {
      const place: Place = { request, resolve, reject };
      this.line.push(place);
      signal.addEventListener('abort', () => this.#leave(place, signal.reason), { once: true });
    });
  }

  override async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const lease = await super.tryAcquire(request);
    if (!lease) return undefined;
    const handOffRaising = async (): Promise<Lease | undefined> => {
      this.passes++;
      return lease;
    };
    return Object.assign(lease, { handOffRaising });
  }

  /** Wakes the first in line, with a claim of a second. */
  async handOff(): Promise<void> {
    const { request, resolve } = this.line.shift()!;
    resolve((await this.tryAcquire({ ...request, ttl: 1_000 }))!);
  }

  /** Tells the first in line that it cannot stand there. */
  refuse(error: unknown): void {
    this.line.shift()!.reject(error);
  }

  #leave(place: Place, reason: unknown): void {
    const index = this.line.indexOf(place);
    if (index >= 0) this.line.splice(index, 1);
    place.reject(reason);
  }
}
