import type { DiscoveryService } from '@nestjs/core';
import type { LockService } from '../../core/lock.service.js';
import { lockPlanOf } from '../plan/lock-plan.js';
import type { LockPlan } from '../plan/lock-plan.js';
import { methodNames } from '../plan/method-names.js';
import { DEFAULT_LOCKS } from '../plan/lock-tokens.js';

/** Throws `LockUnsupportedError`, which names the method, where the store of `locks` has no locks of the kind that it asks for. */
export function checkSupport(
  discovery: DiscoveryService,
  name: string = DEFAULT_LOCKS,
  locks: LockService,
): void {
  if (!('checkSupport' in locks)) return; // a mock
  const classes = [...discovery.getProviders(), ...discovery.getControllers()].map(
    ({ instance, metatype }) => prototypeOf(instance, metatype),
  );
  for (const prototype of new Set(classes)) {
    for (const plan of plansOf(prototype)) {
      if ((plan.locks ?? DEFAULT_LOCKS) !== name || plan.options === undefined) continue;
      locks.checkSupport(plan.label, plan.options);
    }
  }
}

/** Of an instance, or of the class where each request has one. */
function prototypeOf(instance: unknown, metatype: unknown): object | undefined {
  if (instance instanceof Object) return Object.getPrototypeOf(instance) as object;
  return typeof metatype === 'function' ? (metatype.prototype as object | undefined) : undefined;
}

function plansOf(prototype: object | undefined): LockPlan[] {
  return methodNames(prototype ?? null).flatMap(
    (name) => lockPlanOf(Reflect.get(prototype!, name) as Function) ?? [],
  );
}
