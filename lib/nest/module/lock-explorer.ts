import { DiscoveryService } from '@nestjs/core';
import type { LockService } from '../../core/lock.service.js';
import { locksProperty } from '../plan/lock-tokens.js';

/**
 * Links instances that Nest was handed ready-made (`useValue`, `useFactory`), which get no property injection, to the
 * service of their application. The result unlinks them, so that a later application may have them.
 */
export function linkReadyMadeInstances(
  discovery: DiscoveryService,
  name: string | undefined,
  locks: LockService,
): () => void {
  const property = locksProperty(name);
  const linkedHere: Record<symbol, unknown>[] = [];
  for (const wrapper of [...discovery.getProviders(), ...discovery.getControllers()]) {
    if (!wrapper.isDependencyTreeStatic()) continue;
    const instance = wrapper.instance as Record<symbol, unknown> | null | undefined;
    if (!isDecorated(instance, property)) continue;
    const linked = instance[property];
    if (linked !== undefined && linked !== locks) throw sharedInstance(instance);
    if (linked === locks) continue;
    instance[property] = locks;
    linkedHere.push(instance);
  }
  return () => linkedHere.forEach((instance) => (instance[property] = undefined));
}

function isDecorated(
  instance: Record<symbol, unknown> | null | undefined,
  property: symbol,
): instance is Record<symbol, unknown> {
  if (typeof instance !== 'object' || instance === null) return false;
  return property in instance;
}

function sharedInstance(instance: object): Error {
  return new Error(
    `An instance of ${instance.constructor.name} has methods with @DistributedLock and meets the LockServices of two applications: ` +
      'make an instance for each of them',
  );
}
