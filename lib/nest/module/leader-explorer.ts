import type { DiscoveryService } from '@nestjs/core';
import { methodNames } from '../plan/method-names.js';
import { DEFAULT_LOCKS } from '../plan/lock-tokens.js';
import { candidateOf } from '../decorators/on-elected.decorator.js';
import type { Candidate } from '../decorators/on-elected.decorator.js';

/** A method with `@OnElected`, and the instance to call it on. */
export interface FoundCandidate extends Candidate {
  readonly instance: object;
  readonly property: string | symbol;
}

/** The candidates of the instance of locks called `name`. Throws `Error` for what cannot be called. */
export function findCandidates(
  discovery: DiscoveryService,
  name: string = DEFAULT_LOCKS,
): FoundCandidate[] {
  const found: FoundCandidate[] = [];
  const seen = new Set<unknown>();
  for (const wrapper of [...discovery.getProviders(), ...discovery.getControllers()]) {
    const instance = wrapper.instance as unknown;
    if (seen.has(instance)) continue; // an alias
    seen.add(instance);
    const candidates = candidatesOf(instance).filter(({ locks = DEFAULT_LOCKS }) => locks === name);
    const [first] = candidates;
    if (first && (!wrapper.isDependencyTreeStatic() || wrapper.isTransient)) {
      throw new Error(
        `${first.label}: there must be one instance, the class may not be request-scoped or transient`,
      );
    }
    found.push(...candidates);
  }
  return found;
}

function candidatesOf(instance: unknown): FoundCandidate[] {
  if (!(instance instanceof Object)) return [];
  const prototype = Object.getPrototypeOf(instance) as object | null;
  return methodNames(prototype).flatMap((property) => {
    const method = Reflect.get(instance, property) as unknown;
    const candidate = typeof method === 'function' ? candidateOf(method) : undefined;
    return candidate ? [{ ...candidate, instance, property }] : [];
  });
}
