import { createParamDecorator } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { publicMessage } from '../../http/lock-status.js';
import type { LockError } from '../../core/contract/lock-errors.js';
import { httpException } from '../errors/lock-exceptions.js';
import { checkOptions } from '../../core/options/option-rules.js';
import type { FencedHolder } from '../../fencing/holder/fenced-holder.js';
import type { IncomingHeaders } from '../../fencing/http/fencing-header.js';
import { FENCE_RULES, RequestFence, fenceStatus } from '../../fencing/http/request-fence.js';
import type { FenceKey, RequestFenceOptions } from '../../fencing/http/request-fence.js';

/** The part of a request of Express or Fastify that is used here. */
interface FencedNestRequest {
  readonly headers: IncomingHeaders;
  fence?: FencedHolder | undefined;
}

/**
 * Refuses HTTP requests whose header `Fencing-Token` is smaller than one seen before for the same key: 409 and `LOCK_STALE`.
 * Without the header 428, with a malformed one 400. The fence of an admitted request is for `@CurrentFence()`.
 *
 * ```ts
 * @UseGuards(new FencingGuard('order:<request.params.id>', { gate: new FencingGate() }))
 * ```
 */
export class FencingGuard implements CanActivate {
  // oxlint-disable-next-line typescript/no-explicit-any -- a key function names the request of its own adapter
  readonly #fence: RequestFence<any>;

  /** Throws `TypeError` naming the option. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  constructor(key: FenceKey<any>, options: RequestFenceOptions) {
    checkOptions('FencingGuard', options, FENCE_RULES, '{ gate }');
    this.#fence = new RequestFence('FencingGuard', key, options, (request) => ({ request }));
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const type = context.getType<string>();
    if (type !== 'http') {
      throw new TypeError(`FencingGuard guards HTTP handlers only, this one is for ${type}`);
    }
    const request = context.switchToHttp().getRequest<FencedNestRequest>();
    try {
      request.fence = await this.#fence.admit(request, request.headers);
    } catch (error) {
      const status = fenceStatus(error);
      if (status === undefined) throw error;
      const { code } = error as LockError;
      const message = publicMessage(error as LockError);
      throw httpException({ statusCode: status, message, code }, status, error as LockError);
    }
    return true;
  }
}

/**
 * Fills a handler's parameter with what `FencingGuard` has admitted: `@CurrentFence() fence?: FencedHolder`, for a fenced write.
 * `undefined` without a guard, or where `missing: 'pass'` let a request through.
 */
export const CurrentFence = createParamDecorator(
  (_: unknown, context: ExecutionContext): FencedHolder | undefined =>
    context.switchToHttp().getRequest<FencedNestRequest>().fence,
);
