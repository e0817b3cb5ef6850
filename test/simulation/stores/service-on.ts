import { LockService } from '../../../lib/core/lock.service.js';
import type { Bug } from '../bug.js';
import type { Machine } from '../world/machine.js';
import type { Backend } from './backend.js';

/** The service of one process, with the bug in it. To be called as code of the machine. */
export function serviceOn(
  backend: Backend,
  machine: Machine,
  bug: Bug,
): Pick<LockService, 'withLock' | 'close'> {
  const store = backend.storeFor(machine);
  const clock = bug.clock?.(machine);
  const service = new LockService(bug.store?.(store, machine) ?? store, clock ? { clock } : {});
  return bug.service?.(service) ?? service;
}
