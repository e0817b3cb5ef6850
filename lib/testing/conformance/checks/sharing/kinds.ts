import type { LockStore } from '../../../../core/contract/lock-store.js';
import type { Backend } from '../../backend.js';
import { needing } from '../../check.js';
import type { Check } from '../../check.js';
import type { ConformanceFeature, Need } from '../../needs.js';

/** A check of the sharers of a key, for a number of permits. */
export interface KindCheck {
  (backend: Backend, permits: number): Promise<void>;
  readonly needs?: readonly Need[];
}

interface Kind {
  readonly name: string;
  readonly permits: number;
  readonly need: ConformanceFeature;
}

const KINDS: readonly Kind[] = [
  { name: 'readers', permits: Infinity, need: 'readLocks' },
  { name: 'three permits', permits: 3, need: 'semaphores' },
];

/** Each check twice: for readers, and for three permits. */
export function forEachKind(checks: Readonly<Record<string, KindCheck>>): Record<string, Check> {
  const found: Record<string, Check> = {};
  for (const [name, check] of Object.entries(checks)) {
    for (const { name: kind, permits, need } of KINDS)
      found[`${name} (${kind})`] = needing([need, ...(check.needs ?? [])], (backend) =>
        check(backend, permits),
      );
  }
  return found;
}

/** The numbers of permits that the store has. */
export function permitsOf({ supports }: LockStore): number[] {
  return KINDS.filter(({ need }) => supports[need as 'readLocks' | 'semaphores']).map(
    ({ permits }) => permits,
  );
}
