import type { LockService } from '../../core/lock.service.js';

interface Origin {
  /** `undefined` is the instance without a name. */
  readonly locks: string | undefined;
}

/** The instances whose locks failed, by the error. */
const origins = new WeakMap<object, Origin>();
/** Events that have the error which a call rejects with, or which its cause is. */
const FAILURES = ['refused', 'timeout', 'failed', 'aborted', 'jeopardy', 'lost'] as const;

/** The same error, which is then known to be of the instance that is called `locks`. */
export function ofLocks(locks: string | undefined, error: unknown): unknown {
  if (typeof error === 'object' && error !== null) origins.set(error, { locks });
  return error;
}

/** From now on, failures of this service are known to be of the instance that is called `name`. */
export function markFailures(service: LockService, name: string | undefined): LockService {
  if (name === undefined) return service;
  for (const event of FAILURES)
    service.events.on(event, ({ error }: { readonly error: unknown }) => void ofLocks(name, error));
  return service;
}

/** The instance whose lock an error is about. Missing: that without a name, or it is unknown. */
export function originOf(error: Error): Origin | undefined {
  const { cause } = error; // of a loss that has the result of the work
  return origins.get(error) ?? (cause instanceof Error ? origins.get(cause) : undefined);
}
