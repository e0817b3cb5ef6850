import { LockDeadlockError, LockPermitsError } from '../contract/lock-errors.js';
import type { LockError } from '../contract/lock-errors.js';
import { keyNames } from '../keys/lock-keys.js';
import type { Lock } from './lock.js';
import { quoted } from '../text/printable.js';
import { isReader, isShared } from '../sharing/hold-mode.js';

/** A nested call wants more keys than its context holds. */
export function missingKeys(own: Lock, keys: readonly string[]): LockError {
  const key = keyNames(keys);
  const message =
    `Lock ${quoted(key)} would wait for itself: the calling context already holds ${quoted(keyNames(own.keys))}. ` +
    'A nested call shares a lock when it asks for no keys beyond those of that lock';
  return new LockDeadlockError(message, key);
}

/** A nested call wants the keys in another mode than its context holds them. */
export function unshareable(
  own: Lock,
  keys: readonly string[],
  permits: number | undefined,
): LockError {
  const key = keyNames(keys);
  const inUse = own.permits!;
  if (isShared(permits)) return new LockPermitsError(key, permits, inUse);
  const message = isReader(inUse)
    ? `Lock ${quoted(key)} cannot be upgraded: the calling context shares it, and would wait for itself to leave. ` +
      'Take the write lock first, and downgrade it'
    : `Lock ${quoted(key)} would wait for itself: the calling context has a permit of it. Leave the permit first`;
  return new LockDeadlockError(message, key);
}
