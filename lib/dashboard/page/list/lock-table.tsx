import { useRef } from 'preact/hooks';
import type { LockRow } from '../../api.js';
import type { Go, Route } from '../live/route.js';
import { LockTableRow } from './lock-row.js';
import { useKeptFocus } from './kept-focus.js';
import { stepRows } from './step-rows.js';

interface LockTableProps {
  readonly locks: readonly LockRow[];
  readonly route: Route;
  readonly go: Go;
  /** The lock whose page was left last: its row has the focus again. */
  readonly returnedFrom: string | undefined;
}

const COLUMNS = ['State', 'Lock', 'Holder', 'Age', 'Time left', 'Waiting', 'Fencing token'];

/** The roles are written out: on a phone, where a row is a card, the browser would drop them. */
export function LockTable({ locks, route, go, returnedFrom }: LockTableProps) {
  const table = useRef<HTMLTableElement>(null);
  useKeptFocus(table, returnedFrom);
  return (
    <table ref={table} class="locks" role="table" onKeyDown={stepRows}>
      <caption class="only-heard">Held locks, the most urgent first</caption>
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map((column) => (
            <th key={column} scope="col" role="columnheader">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {locks.map((row) => (
          <LockTableRow key={row.key} row={row} route={route} go={go} />
        ))}
      </tbody>
    </table>
  );
}
