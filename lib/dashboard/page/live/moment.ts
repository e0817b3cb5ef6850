import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Live } from './use-live.js';

/** When the snapshot came, for what ticks between two of them. Without a connection nothing ticks. */
export interface Moment {
  readonly receivedAt: number;
  readonly isFrozen: boolean;
}

export const MomentContext = createContext<Moment>({ receivedAt: 0, isFrozen: true });

export function momentOf({ receivedAt, lost }: Live): Moment {
  return { receivedAt, isFrozen: lost !== undefined };
}

const TICK = 1_000;
const ticking = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Milliseconds since the snapshot. The caller is rendered again each second. */
export function useSinceSnapshot(): number {
  const { receivedAt, isFrozen } = useContext(MomentContext);
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (isFrozen) return undefined;
    const tick = () => setNow(performance.now());
    return listen(tick);
  }, [isFrozen]);
  return Math.max(0, now - receivedAt);
}

/** One timer for all. */
function listen(tick: () => void): () => void {
  ticking.add(tick);
  timer ??= setInterval(() => ticking.forEach((each) => each()), TICK);
  return () => {
    ticking.delete(tick);
    if (ticking.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
