import type { LockService } from '../../core/lock.service.js';

export function checkInstance(
  self: unknown,
  label: string,
): asserts self is Record<symbol, unknown> {
  if (typeof self === 'object' && self !== null) return;
  throw new TypeError(`${label} was called without its instance: call it as instance.method()`);
}

/** The service that Nest has put into that property of the instance of a decorated method. */
export function locksOf(self: unknown, label: string, property: symbol): LockService {
  checkInstance(self, label);
  const locks = self[property] as LockService | undefined;
  if (typeof locks?.enter === 'function') return locks;
  if (locks) throw new TypeError(`${label}: ${NO_MOCK}`);
  throw new Error(
    `${label}: this instance has no LockService: Nest did not make it, or its application was closed. Let Nest instantiate the class, or return ` +
      'the instance from a provider of a module that sees DistributedLockModule and is not loaded lazily. In a unit test write ' +
      "useLocks(instance), from 'nest-holdfast/testing'; where Nest is handed the instance, call init() after compile()",
  );
}

const NO_MOCK =
  'the LockService of this instance is a mock, and a decorated method needs a lock. Mock what the method uses, and leave the locks in memory: ' +
  "import LockTestingModule.forRoot(control) beside DistributedLockModule, or write useLocks(instance, control), from 'nest-holdfast/testing'";

/** The scope that `enter` has resolved with. Throws `TypeError` for that of a mock. */
export function checkScope<Scope>(scope: Scope, label: string): Scope {
  const { run, leave } = (scope ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof run === 'function' && typeof leave === 'function') return scope;
  throw new TypeError(`${label}: ${NO_MOCK}`);
}
