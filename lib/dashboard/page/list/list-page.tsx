import type { Snapshot } from '../../api.js';
import { ChartStrip } from '../charts/chart-strip.js';
import { Nodes } from '../frame/nodes.js';
import { Notes } from '../frame/notes.js';
import { isFiltered } from '../live/route.js';
import type { Go, Route } from '../live/route.js';
import { Filters } from './filters.js';
import { LockTable } from './lock-table.js';

interface ListPageProps {
  readonly snapshot: Snapshot;
  readonly route: Route;
  readonly go: Go;
  readonly returnedFrom: string | undefined;
}

export function ListPage({ snapshot, route, go, returnedFrom }: ListPageProps) {
  const { locks, names, charts, nodes, reader } = snapshot;
  return (
    <main>
      <Nodes nodes={nodes} />
      <ChartStrip charts={charts} reader={reader} route={route} go={go} />
      <section class="list" aria-label="Locks">
        <Filters route={route} go={go} names={names} />
        <Notes snapshot={snapshot} />
        {locks.length > 0 ? (
          <LockTable locks={locks} route={route} go={go} returnedFrom={returnedFrom} />
        ) : (
          <Empty route={route} snapshot={snapshot} />
        )}
      </section>
    </main>
  );
}

function Empty({ route, snapshot }: Pick<ListPageProps, 'route' | 'snapshot'>) {
  if (snapshot.isReading) return <p class="empty">Asking the store for its locks…</p>;
  if (isFiltered(route))
    return <p class="empty">No held lock matches the filter. Clear it to see every lock.</p>;
  if (snapshot.failure !== undefined || !snapshot.canList)
    return <p class="empty">This process holds no lock.</p>;
  return <p class="empty">No lock is held.</p>;
}
