import { useEffect, useRef, useState } from 'preact/hooks';
import type { Snapshot } from '../../api.js';
import { EventStream } from './event-stream.js';

/** The last state from the server. */
export interface Live {
  readonly snapshot: Snapshot | undefined;
  /** The query that the snapshot answers. */
  readonly query: string;
  /** `performance.now()` when it came. */
  readonly receivedAt: number;
  /** Milliseconds since 1970, of this browser. */
  readonly receivedOn: number | undefined;
  /** There is no connection now. `why`: in words, where it is known. */
  readonly lost: { readonly why: string | undefined } | undefined;
}

const NOTHING: Live = {
  snapshot: undefined,
  query: '',
  receivedAt: 0,
  receivedOn: undefined,
  lost: undefined,
};
/** Milliseconds after the last letter, before the server is asked for another filter. */
const TYPING = 150;

/** Listens to the server while the tab is visible. */
export function useLive(query: string): Live {
  const [live, setLive] = useState(NOTHING);
  const isVisible = useVisible();
  const settled = useSettled(query);
  useEffect(() => {
    if (!isVisible) return undefined;
    const stream = new EventStream(settled, {
      snapshot: (snapshot) =>
        setLive({
          snapshot,
          query: settled,
          receivedAt: performance.now(),
          receivedOn: Date.now(),
          lost: undefined,
        }),
      lost: (why) => setLive((before) => ({ ...before, lost: { why } })),
    });
    return () => stream.close();
  }, [settled, isVisible]);
  return live;
}

function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const read = () => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', read);
    return () => document.removeEventListener('visibilitychange', read);
  }, []);
  return isVisible;
}

/** The value, once it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    timer.current = setTimeout(() => setSettled(value), TYPING);
    return () => clearTimeout(timer.current);
  }, [value]);
  return settled;
}
