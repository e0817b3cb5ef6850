import type { LockRow, Snapshot } from '../../api.js';
import type { Go } from '../live/route.js';
import type { Live } from '../live/use-live.js';
import { Foreign, STATE_WORDS } from '../text/words.js';
import { formatCount } from '../text/format.js';
import { RouteLink } from '../text/route-link.js';
import { Status } from './status.js';

interface HeaderProps {
  readonly live: Live;
  readonly go: Go;
}

/** Which store this is, what it holds, and whether what is shown is live. */
export function Header({ live, go }: HeaderProps) {
  const { snapshot } = live;
  return (
    <header class="top">
      <h1>
        <RouteLink to={{}} go={go}>
          Locks
        </RouteLink>
      </h1>
      {snapshot && (
        <p class="store" title={`Read by ${snapshot.reader}`}>
          on <Foreign text={snapshot.store} />
        </p>
      )}
      {snapshot && <Counts snapshot={snapshot} />}
      <Status live={live} />
    </header>
  );
}

function Counts({ snapshot }: { readonly snapshot: Snapshot }) {
  const { total, isComplete, locks } = snapshot;
  const waiting = locks.reduce((sum, { waiterCount = 0 }) => sum + waiterCount, 0);
  const isPart = !isComplete || locks.length < total;
  return (
    <ul class="counts" aria-label="In all">
      <Count of={total} isPart={!isComplete} words="held" />
      <Urgent locks={locks} state="jeopardy" />
      <Urgent locks={locks} state="overdue" />
      <Count of={waiting} isPart={isPart} words="waiting" />
    </ul>
  );
}

interface CountProps {
  readonly of: number;
  /** There may be more. */
  readonly isPart?: boolean;
  readonly words: string;
  readonly urgent?: string;
}

function Count({ of, isPart, words, urgent = '' }: CountProps) {
  return (
    <li class={of > 0 ? urgent : ''}>
      <b>{`${formatCount(of)}${isPart && of > 0 ? '+' : ''}`}</b> {words}
    </li>
  );
}

/** The most urgent locks come first, so that none of them is missing. */
function Urgent({
  locks,
  state,
}: {
  readonly locks: readonly LockRow[];
  readonly state: 'jeopardy' | 'overdue';
}) {
  const count = locks.filter((lock) => lock.state === state).length;
  return <Count of={count} words={STATE_WORDS[state]} urgent={state} />;
}
