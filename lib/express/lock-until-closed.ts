import { eitherOf } from '../core/abort-signals.js';
import { LockLostError } from '../core/lock-errors.js';
import { keyNames } from '../core/lock-keys.js';
import type { LockKeys } from '../core/lock-keys.js';
import type { LockOptions } from '../core/lock-options.js';
import type { LockScope } from '../core/lock-scope.js';
import type { LockService } from '../core/lock.service.js';
import type { ExpressRequest, ExpressResponse } from './express-types.js';

/** Takes a lock for as long as a response lasts. Resolves `undefined` when the client went away first: there is nobody to answer. */
export async function lockUntilClosed(
  locks: LockService,
  options: LockOptions,
  keys: () => LockKeys,
  request: ExpressRequest,
  response: ExpressResponse,
): Promise<LockScope | undefined> {
  if (isQueued(request, response)) await turnOf(response);
  const gone = new AbortController();
  const leave = () => gone.abort();
  if (isOver(response)) return undefined;
  response.once('close', leave);
  let scope: LockScope;
  try {
    scope = await locks.enter(keys(), { ...options, signal: gone.signal });
  } catch (error) {
    if (gone.signal.aborted) return undefined;
    throw error;
  } finally {
    response.removeListener('close', leave);
  }
  if (gone.signal.aborted || isOver(response)) {
    void scope.leave(); // never rejects
    return undefined;
  }
  keepUntilClosed(scope, response);
  return scope;
}

/**
 * Pipelined requests arrive together and are answered in order. One that took its lock before its turn could keep it from one
 * whose answer it has to wait for; and Node does not tell its response when the client goes away.
 */
function isQueued(request: ExpressRequest, response: ExpressResponse): boolean {
  return response.socket === null && Boolean(request.socket) && !isOver(response);
}

/** Never resolves when the connection ends before, and then goes with it. */
function turnOf(response: ExpressResponse): Promise<void> {
  return new Promise((resolve) => response.once('socket', resolve));
}

function isOver({ destroyed, writableFinished }: ExpressResponse): boolean {
  return destroyed || writableFinished;
}

function keepUntilClosed(scope: LockScope, response: ExpressResponse): void {
  const { lock } = scope;
  const { locals } = response;
  const cutOff = eitherOf(lock.signal, locals['lockSignal'] as AbortSignal | undefined);
  response.once('close', () => {
    void scope.leave(); // never rejects
    if (response.writableFinished) return;
    cutOff.abort(new LockLostError(keyNames(lock.keys), 'released'));
  });
  locals['lock'] = lock;
  locals['lockSignal'] = cutOff.signal;
}
