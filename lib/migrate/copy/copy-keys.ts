import type { AdminServer } from './admin-client.js';
import { copyKey } from './copied-key.js';
import type { CopiedKeys } from './copied-key.js';
import type { LockKeys } from './lock-keys.js';

/** Keys that are copied at a time. */
const AT_ONCE = 100;

/** Copies all keys of the locks. Resolves with the number of locks that are held. */
export async function copyKeys(copy: CopiedKeys, signal: AbortSignal | undefined): Promise<number> {
  const seen = new Set<string>();
  let locks = 0;
  for await (const page of copy.keys.all(copy.from)) {
    const names = page.filter((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    for (let at = 0; at < names.length; at += AT_ONCE) {
      signal?.throwIfAborted();
      const some = names.slice(at, at + AT_ONCE).map((name) => copyKey(copy, name));
      locks += (await Promise.all(some)).filter(Boolean).length;
    }
  }
  return locks;
}

/** Deletes all keys of the locks of a server. */
export async function deleteKeys(server: AdminServer, keys: LockKeys): Promise<void> {
  for await (const names of keys.all(server))
    if (names.length > 0) await server.call('DEL', ...names);
}
