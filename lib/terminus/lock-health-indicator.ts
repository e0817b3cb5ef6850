import { Inject, Injectable, Optional } from '@nestjs/common';
import * as terminus from '@nestjs/terminus';
import type { HealthIndicatorResult } from '@nestjs/terminus';
import { HEALTH_RULES } from '../core/health/health.js';
import type { LockHealth, LockHealthOptions } from '../core/health/health.js';
import { LockService } from '../core/lock.service.js';
import { a, checkOptions } from '../core/options/option-rules.js';
import type { OptionRules } from '../core/options/option-rules.js';

export interface LockHealthIndicatorOptions extends LockHealthOptions {
  /**
   * The locks to be probed, of a named instance say.
   * @default those of the module without a name
   */
  readonly locks?: LockService | undefined;
}

const RULES: OptionRules<LockHealthIndicatorOptions> = {
  ...HEALTH_RULES,
  locks: a('a LockService', hasHealth),
};

type Data = Readonly<Record<string, unknown>>;

/** The difference between the majors. `@nestjs/terminus` 10 has no service, and 11 no `degraded`. */
interface Terminus {
  readonly HealthIndicatorService?: new () => { check(key: string): Session };
  readonly HealthCheckError?: new (message: string, causes: unknown) => Error;
}

interface Session {
  up(data: Data): HealthIndicatorResult;
  down(data: Data): HealthIndicatorResult;
  degraded?(data: Data): HealthIndicatorResult;
}

/**
 * Whether locks can be taken, for `@nestjs/terminus` 10, 11 and 12. For readiness, not for liveness: to restart the application
 * does not mend its store.
 *
 * ```ts
 * health.check([() => indicator.isHealthy('locks')]);
 * ```
 */
@Injectable()
export class LockHealthIndicator {
  readonly #locks: LockService | undefined;

  constructor(@Optional() @Inject(LockService) locks?: LockService) {
    this.#locks = locks;
  }

  /**
   * `up`, `down`, or `degraded`, which is `up` with `degraded: true` before terminus 12. Resolves in each case; with terminus 10,
   * `down` rejects with its `HealthCheckError`. Rejects with `TypeError` for unusable options.
   */
  async isHealthy<const Key extends string>(
    key: Key,
    options: LockHealthIndicatorOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    checkOptions('LockHealthIndicator', options, RULES, "{ probe: 'lock' }");
    const { locks = this.#locks, ...probe } = options;
    if (!locks) throw new TypeError('LockHealthIndicator: there is no DistributedLockModule without a name: give isHealthy the option locks'); // prettier-ignore
    return resultOf(key, await locks.health(probe)) as HealthIndicatorResult<Key>;
  }
}

function resultOf(key: string, { status, ...data }: LockHealth): HealthIndicatorResult {
  const { HealthIndicatorService, HealthCheckError } = { ...(terminus as object) } as Terminus;
  if (!HealthIndicatorService) {
    if (status === 'down') throw new HealthCheckError!(`${key} is down`, { [key]: { status, ...data } }); // prettier-ignore
    return { [key]: { status: 'up', ...asDegraded(status), ...data } };
  }
  const session = new HealthIndicatorService().check(key);
  if (status === 'down') return session.down(data);
  if (status === 'degraded' && session.degraded) return session.degraded(data);
  return session.up({ ...asDegraded(status), ...data });
}

function asDegraded(status: LockHealth['status']): Data {
  return status === 'degraded' ? { degraded: true } : {};
}

function hasHealth(value: unknown): boolean {
  return typeof (value as Partial<LockService> | null | undefined)?.health === 'function';
}
