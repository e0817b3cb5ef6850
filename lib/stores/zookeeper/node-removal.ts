import type { Connection } from './connection.js';

/** All at once, or those that are left when one was gone. When this is a repetition, all may be: by what was not answered. */
export function removal(paths: readonly string[]) {
  let wasOneGone = false;
  return async (connection: Connection, isRepeated: boolean): Promise<boolean> => {
    if (!wasOneGone && (await connection.removeAll(paths))) return true;
    wasOneGone ||= !isRepeated;
    const left = await Promise.all(paths.map((path) => connection.remove(path)));
    return !wasOneGone && !left.includes(true);
  };
}
