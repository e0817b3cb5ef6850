import type { LockService } from '../../core/lock.service.js';
import type { LockOptions } from '../../core/options/lock-options.js';
import type { Lock } from '../../core/scope/lock.js';
import { CommandError } from '../output/command-error.js';
import type { SignalRelay } from './signal-relay.js';
import { codeOf } from './supervisor-process.js';

export interface AcquireFlags {
  /** Milliseconds. `false`: by `--no-wait`. */
  readonly wait?: number | boolean;
  readonly ttl?: number;
  readonly permits?: number;
  readonly read?: boolean;
}

const WAIT = 10_000;

/** A signal ends the wait, and with it this process, as it would end any other. */
export async function acquireLock(
  locks: LockService,
  key: string,
  options: AcquireFlags,
  relay: SignalRelay,
): Promise<Lock> {
  const interrupted = new AbortController();
  relay.to = (signal) => {
    if (signal !== 'SIGWINCH')
      interrupted.abort(
        new CommandError(codeOf(signal), `ended by ${signal} before the command ran`),
      );
  };
  const lock = await locks.acquire(key, lockOptions(options, interrupted.signal));
  if (!interrupted.signal.aborted) return lock;
  await lock.release();
  throw interrupted.signal.reason;
}

function lockOptions(
  { wait = WAIT, ttl, permits, read }: AcquireFlags,
  signal: AbortSignal,
): LockOptions {
  return {
    waitTimeout: typeof wait === 'number' ? wait : wait ? WAIT : 0,
    ...(ttl !== undefined && { ttl }),
    ...(permits !== undefined && { permits }),
    ...(read && { mode: 'read' }),
    signal,
  };
}
