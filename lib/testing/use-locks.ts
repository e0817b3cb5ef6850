import { LockService } from '../core/lock.service.js';
import { show } from '../core/options/option-values.js';
import { LockControl } from './lock-control.js';

/** The properties through which instances get their `LockService`: their descriptions say what to import, and the instance of locks. */
const PROPERTY = /^import DistributedLockModule\.forRoot\((?:\{ name: '(.*)' \})?\)$/;

/** The services of one control, by the names of their instances: all objects of a test lock in them. */
const services = new WeakMap<LockControl, Map<string | undefined, LockService>>();

/**
 * Gives an object that no container has made its locks, for a plain unit test, and returns it:
 *
 * ```ts
 * const control = new LockControl();
 * const orders = useLocks(new OrdersService(payments), control);
 * await orders.pay('42');
 * ```
 *
 * Objects with the same control exclude each other. Throws `TypeError` for an object without a decorated method.
 */
export function useLocks<T extends object>(
  instance: T,
  control: LockControl = new LockControl(),
): T {
  const properties = lockProperties(instance);
  if (properties.length === 0) {
    const got = instance instanceof Object ? instance.constructor.name : show(instance);
    throw new TypeError(`useLocks: ${got} has no method with @DistributedLock or @Semaphore`);
  }
  for (const property of properties) {
    const name = PROPERTY.exec(property.description!)![1];
    Object.assign(instance, { [property]: serviceOf(control, name) });
  }
  return instance;
}

function lockProperties(instance: unknown): symbol[] {
  const found = new Set<symbol>();
  let each: unknown = instance;
  while (each instanceof Object) {
    for (const property of Object.getOwnPropertySymbols(each))
      if (PROPERTY.test(property.description ?? '')) found.add(property);
    each = Object.getPrototypeOf(each);
  }
  return [...found];
}

function serviceOf(control: LockControl, name: string | undefined): LockService {
  const known = services.get(control) ?? new Map<string | undefined, LockService>();
  services.set(control, known);
  const { clock } = control;
  const service = known.get(name) ?? new LockService(control.store(name), clock ? { clock } : {});
  known.set(name, service);
  return service;
}
