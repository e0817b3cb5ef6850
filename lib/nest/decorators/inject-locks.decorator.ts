import { Inject } from '@nestjs/common';
import { getLocksToken } from '../plan/lock-tokens.js';

/** Injects the `LockService` of a named instance: `constructor(@InjectLocks('billing') private readonly locks: LockService)`. */
export function InjectLocks(name?: string): PropertyDecorator & ParameterDecorator {
  return Inject(getLocksToken(name));
}
