import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LockRow, Snapshot } from '../../api.js';
import { Notes } from '../frame/notes.js';
import { queryOf } from '../live/route.js';
import type { Go, Route } from '../live/route.js';
import type { Live } from '../live/use-live.js';
import { Foreign, ModeTag, StateBadge } from '../text/words.js';
import { RouteLink } from '../text/route-link.js';
import { Facts } from './facts.js';
import { Line } from './line.js';
import { Release } from './release.js';

interface LockPageProps {
  readonly lockKey: string;
  readonly live: Live;
  readonly route: Route;
  readonly go: Go;
}

/** One lock, with its whole line of waiters. Escape goes back to the list. */
export function LockPage({ lockKey, live, route, go }: LockPageProps) {
  const back: Route = { ...route, key: undefined };
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  useEscape(() => go(back));
  const row = rowOf(live, route);
  return (
    <main class="lock-page">
      <p>
        <RouteLink to={back} go={go} class="back">
          ← All locks
        </RouteLink>
      </p>
      <h2 ref={heading} tabIndex={-1}>
        <Foreign text={lockKey} />
      </h2>
      <Content row={row} live={live} />
      {live.snapshot?.actions.includes('release') && <Release row={row ?? undefined} />}
    </main>
  );
}

function Content({ row, live }: { readonly row: LockRow | null | undefined; readonly live: Live }) {
  const { snapshot } = live;
  if (!row) {
    return (
      <p class="empty" role="status">
        {row === null ? 'Nobody holds this lock.' : unknownWords(snapshot)}
      </p>
    );
  }
  return (
    <>
      <p class="marks">
        <StateBadge state={row.state} /> {row.name && <Foreign text={row.name} />}{' '}
        <ModeTag row={row} />
      </p>
      {snapshot?.failure !== undefined && <Notes snapshot={{ ...snapshot, total: 0 }} />}
      <Facts row={row} at={snapshot!.at} />
      <Line row={row} />
    </>
  );
}

/** Why the holder of the lock is unknown. */
function unknownWords(snapshot: Snapshot | undefined): string {
  const HERE = 'This process does not hold this lock.';
  if (snapshot?.failure !== undefined)
    return `The store was not read: ${snapshot.failure}. ${HERE}`;
  if (snapshot?.canList === false) return `This store cannot tell who holds a lock. ${HERE}`;
  return 'Asking the store for this lock…';
}

/** From the snapshot that was asked for with this key; until it comes, from the list. `null`: the lock is free. */
function rowOf({ snapshot, query }: Live, route: Route): LockRow | null | undefined {
  if (query === queryOf(route)) return snapshot?.detail;
  return snapshot?.locks.find(({ key }) => key === route.key);
}

/** Not from a dialog, which Escape closes. */
function useEscape(leave: () => void): void {
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !document.querySelector('dialog[open]')) leave();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}
