import { randomUUID } from 'node:crypto';
import type { AcquireRequest } from 'nest-holdfast';

/** A request with a token of its own. */
export function requestFor(key: string, more: Partial<AcquireRequest> = {}): AcquireRequest {
  return { key, keys: [key], ttl: 30_000, token: randomUUID(), holder: 'host:1:2', ...more };
}

/** A signal that never aborts. */
export function never(): AbortSignal {
  return new AbortController().signal;
}
