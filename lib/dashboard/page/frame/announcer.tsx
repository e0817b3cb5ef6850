import { useEffect, useState } from 'preact/hooks';
import type { Snapshot } from '../../api.js';
import { countOf } from '../text/format.js';

const TITLE = 'Locks';

/** Tells of locks in jeopardy and overdue when their number changes: aloud, and in the title of the tab. */
export function Announcer({ snapshot }: { readonly snapshot: Snapshot | undefined }) {
  const words = snapshot ? urgentWords(snapshot) : '';
  const [told, setTold] = useState('');
  useEffect(() => {
    document.title = words ? `${words} · ${TITLE}` : TITLE;
    setTold((before) => words || (before && 'No lock is in jeopardy or overdue'));
  }, [words]);
  return (
    <p class="only-heard" role="status">
      {told}
    </p>
  );
}

function urgentWords({ locks }: Snapshot): string {
  const count = (state: string) => locks.filter((lock) => lock.state === state).length;
  const [jeopardy, overdue] = [count('jeopardy'), count('overdue')];
  const words = [
    jeopardy > 0 && `${countOf(jeopardy, 'lock')} in jeopardy`,
    overdue > 0 && `${overdue} overdue`,
  ];
  return words.filter(Boolean).join(', ');
}
