import { warn } from '../async/warn.js';

/** Milliseconds: below this, a ttl may have been meant as seconds. */
export const SHORT_TTL = 1_000;
/** Maximum number of ttls that are remembered as told; a program with more of them has seen the warning. */
const MOST_TTLS = 10;
const told = new Set<number>();

/** Once for each ttl. */
export function warnOfShortTtl(ttl: number): void {
  if (told.has(ttl) || told.size >= MOST_TTLS) return;
  told.add(ttl);
  const often = `it is extended every ${Math.round(ttl / 3)} ms, and a pause of ${ttl} ms loses it`;
  warn(
    `A lock has a ttl of ${ttl} ms: ${often}. Times are milliseconds: ${ttl} seconds are ttl: ${ttl}_000. ` +
      'For a lock that is to end so soon, say autoExtend: false',
    'HOLDFAST_SHORT_TTL',
  );
}
