import { randomUUID } from 'node:crypto';
import type { AcquireRequest } from '../../core/contract/lock-store.js';

/** The requests to the two stores for one request. A store knows its own earlier attempts by the object. */
export interface PairRequest {
  readonly from: AcquireRequest;
  /** For a place in a queue: without a floor. */
  readonly to: AcquireRequest;
  readonly toWithFloor: { -readonly [Name in keyof AcquireRequest]: AcquireRequest[Name] };
}

export class PairRequests {
  readonly #pairs = new WeakMap<AcquireRequest, PairRequest>();

  of(request: AcquireRequest): PairRequest {
    const known = this.#pairs.get(request);
    if (known) return known;
    const pair = { from: { ...request }, to: { ...request }, toWithFloor: { ...request } };
    this.#pairs.set(request, pair);
    return pair;
  }

  /** A grant may still be on its way back: its late release must not free the keys of the next attempt, which gets a new token. */
  renew(request: AcquireRequest): void {
    this.#pairs.delete(request);
    const renewed = this.of({ ...request, token: randomUUID() });
    this.#pairs.set(request, renewed);
  }
}
