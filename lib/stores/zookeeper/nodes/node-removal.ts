import type { Connection } from '../client/connection.js';

/**
 * Removes all at once, or the remaining ones when one was gone. In a repetition all may be gone: the unanswered call removed
 * them.
 */
export function removal(paths: readonly string[]) {
  let wasOneGone = false;
  return async (connection: Connection, isRepeated: boolean): Promise<boolean> => {
    if (!wasOneGone && (await connection.removeAll(paths))) return true;
    wasOneGone ||= !isRepeated;
    const left = await Promise.all(paths.map((path) => connection.remove(path)));
    return !wasOneGone && !left.includes(true);
  };
}
