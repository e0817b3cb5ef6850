import 'reflect-metadata';
import { Inject } from '@nestjs/common';
import { getLocksToken, locksProperty } from '../plan/lock-tokens.js';

/** The method itself. Throws `TypeError` for what cannot be wrapped. */
export function decoratedMethod(
  label: string,
  target: object,
  descriptor: PropertyDescriptor | undefined,
): Function {
  if (typeof target === 'function') {
    throw new TypeError(
      `${label}: a static method has no instance to get the lock from; use LockService.withLock`,
    );
  }
  const method = descriptor?.value as unknown;
  if (typeof method === 'function') return method;
  throw new TypeError(`${label}: only methods can be locked, not accessors or properties`);
}

/** Routes, guards, schedules and documentation hang on the function. */
export function carryOver(from: Function, to: Function): void {
  for (const key of Reflect.getMetadataKeys(from)) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, from), to);
  }
  const { prototype: _, ...properties } = Object.getOwnPropertyDescriptors(from);
  Object.defineProperties(to, properties as PropertyDescriptorMap);
}

/** Nest's injector fills the property for every instance it makes, with the service of that application. */
export function injectLocks(target: object, locks: string | undefined): void {
  const property = locksProperty(locks);
  if (property in target) return;
  Object.defineProperty(target, property, {
    configurable: true,
    get: () => undefined,
    set(this: object, service: unknown) {
      Object.defineProperty(this, property, { value: service, configurable: true, writable: true });
    },
  });
  Inject(getLocksToken(locks))(target, property);
}

/** `@OnElected on OrdersService.pay`, for messages. Throws `TypeError` where a build has decorators that Nest does not know. */
export function labelOf(decorator: string, target: object, property: string | symbol): string {
  if (typeof property === 'object') {
    throw new TypeError(
      `${decorator}: this build compiles decorators as ECMAScript has them, and Nest needs those of TypeScript: set ` +
        'experimentalDecorators and emitDecoratorMetadata in the tsconfig.json of the build',
    );
  }
  const owner = typeof target === 'function' ? target.name : target.constructor.name;
  return `${decorator} on ${owner}.${String(property)}`;
}
