import { useSinceSnapshot } from '../live/moment.js';
import { formatDuration } from './format.js';

interface Milliseconds {
  /** At the time of the snapshot. */
  readonly ms: number;
}

/** How long a lock has been held. */
export function Age({ ms }: Milliseconds) {
  const passed = useSinceSnapshot();
  return <span>{formatDuration(ms + passed)}</span>;
}

/** How long until a lock frees itself. */
export function TimeLeft({ ms }: Milliseconds) {
  const passed = useSinceSnapshot();
  const left = ms - passed;
  if (left <= 0) return <span class="warn">run out</span>;
  return <span>{left < 1_000 ? '< 1 s' : formatDuration(left)}</span>;
}
