import { eitherOf } from '../core/async/abort-signals.js';
import { LockLostError } from '../core/contract/lock-errors.js';
import { keyNames } from '../core/keys/lock-keys.js';
import type { LockKeys } from '../core/keys/lock-keys.js';
import type { LockOptions } from '../core/options/lock-options.js';
import type { Lock } from '../core/scope/lock.js';
import type { LockScope } from '../core/scope/lock-scope.js';
import type { LockService } from '../core/lock.service.js';
import { HandlerWork } from '../http/handler-work.js';
import type { ExpressRequest, ExpressResponse } from './express-types.js';

/** The keys of a request's lock, and its options. */
export interface RequestLock {
  readonly locks: LockService;
  readonly lockOptions: LockOptions;
  /** The client that goes away frees the keys. */
  readonly endsWithClient: boolean;
}

/**
 * Takes a lock until the response is over and its handler is done. Resolves `undefined` when the client went away first.
 */
export async function lockUntilClosed(
  { locks, lockOptions, endsWithClient }: RequestLock,
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
    scope = await locks.enterRequest(keys(), { ...lockOptions, signal: gone.signal });
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
  try {
    keepUntilClosed(scope, response, endsWithClient);
    return scope;
  } catch (error) {
    void scope.leave(); // never rejects
    throw error;
  }
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

function keepUntilClosed(
  scope: LockScope,
  response: ExpressResponse,
  endsWithClient: boolean,
): void {
  const { lock } = scope;
  const locals = (response.locals ??= {}); // only Express makes them
  const cutOff = eitherOf(lock.signal, locals['lockSignal'] as AbortSignal | undefined);
  const leave = () => void scope.leave(); // never rejects
  const work = HandlerWork.of(response);
  response.once('close', () => {
    if (endsWithClient) leave();
    else work.onceDone(leave);
    if (!response.writableFinished) cutOff.abort(endsWithClient ? releasedOf(lock) : clientGone());
  });
  locals['lock'] = lock;
  locals['lockSignal'] = cutOff.signal;
}

function releasedOf({ keys }: Lock): LockLostError {
  return new LockLostError(keyNames(keys), 'released');
}

/** The lock is still held, so that it is no loss. */
function clientGone(): Error {
  return new DOMException('The client went away before its answer was sent', 'AbortError');
}
