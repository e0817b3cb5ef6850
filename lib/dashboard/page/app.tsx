import { useEffect, useRef } from 'preact/hooks';
import { Announcer } from './frame/announcer.js';
import { Header } from './frame/header.js';
import { ListPage } from './list/list-page.js';
import { LockPage } from './lock/lock-page.js';
import { MomentContext, momentOf } from './live/moment.js';
import { queryOf, useRoute } from './live/route.js';
import type { Go, Route } from './live/route.js';
import { useLive } from './live/use-live.js';
import type { Live } from './live/use-live.js';

export function App() {
  const [route, go] = useRoute();
  const live = useLive(queryOf(route));
  return (
    <MomentContext.Provider value={momentOf(live)}>
      <div class={live.lost ? 'app stale' : 'app'}>
        <Header live={live} go={go} />
        <Announcer snapshot={live.snapshot} />
        <Content live={live} route={route} go={go} />
        <footer>
          <Keys keys={['/']} does="search" />
          <Keys keys={['↑', '↓']} does="from lock to lock" />
          <Keys keys={['Enter']} does="open" />
          <Keys keys={['Esc']} does="back" />
        </footer>
      </div>
    </MomentContext.Provider>
  );
}

function Keys({ keys, does }: { readonly keys: readonly string[]; readonly does: string }) {
  return (
    <span>
      {keys.map((key) => [<kbd key={key}>{key}</kbd>, ' '])}
      {does}
    </span>
  );
}

interface ContentProps {
  readonly live: Live;
  readonly route: Route;
  readonly go: Go;
}

function Content({ live, route, go }: ContentProps) {
  const { snapshot } = live;
  const opened = useRef(route.key);
  const left = route.key === undefined ? opened.current : undefined;
  useEffect(() => {
    if (route.key !== undefined) opened.current = route.key;
  }, [route.key]);
  if (snapshot === undefined)
    return <main>{!live.lost && <p class="empty">Asking the server for its locks…</p>}</main>;
  return route.key === undefined ? (
    <ListPage snapshot={snapshot} route={route} go={go} returnedFrom={left} />
  ) : (
    <LockPage key={route.key} lockKey={route.key} live={live} route={route} go={go} />
  );
}
