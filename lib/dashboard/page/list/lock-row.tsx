import type { ComponentChildren } from 'preact';
import type { LockRow } from '../../api.js';
import type { Go, Route } from '../live/route.js';
import { Foreign, ModeTag, ProcessName, StateBadge } from '../text/words.js';
import { Age, TimeLeft } from '../text/ticking.js';
import { formatCount } from '../text/format.js';
import { RouteLink } from '../text/route-link.js';
import { visible } from '../text/visible.js';

interface LockTableRowProps {
  readonly row: LockRow;
  readonly route: Route;
  readonly go: Go;
}

export function LockTableRow({ row, route, go }: LockTableRowProps) {
  const { key, name, state, heldFor, remaining, fencingToken } = row;
  return (
    <tr role="row" class={state}>
      <Cell of="State">
        <StateBadge state={state} />
      </Cell>
      <td role="cell" class="lock">
        <RouteLink to={{ ...route, key }} go={go} title={visible(key)} data-key={key}>
          <Foreign text={key} />
        </RouteLink>
        {(name || row.mode !== 'write') && (
          <small>
            {name && <Foreign text={name} />} <ModeTag row={row} />
          </small>
        )}
      </td>
      <Cell of="Holder">
        <Holder row={row} />
      </Cell>
      <Cell of="Age">{heldFor === undefined ? <Unknown /> : <Age ms={heldFor} />}</Cell>
      <Cell of="Time left">
        {remaining === undefined ? <Unknown /> : <TimeLeft ms={remaining} />}
      </Cell>
      <Cell of="Waiting">
        <Waiting row={row} />
      </Cell>
      <Cell of="Fencing token">
        {fencingToken === undefined ? (
          <Unknown />
        ) : (
          <code title={fencingToken}>{fencingToken}</code>
        )}
      </Cell>
    </tr>
  );
}

interface CellProps {
  /** Its column: on a phone the label beside it. */
  readonly of: string;
  readonly children: ComponentChildren;
}

function Cell({ of, children }: CellProps) {
  return (
    <td role="cell" data-label={of}>
      <div>{children}</div>
    </td>
  );
}

function Unknown() {
  return (
    <span class="muted" title="not known">
      –
    </span>
  );
}

function Holder({ row }: { readonly row: LockRow }) {
  const { holders, isLocal } = row;
  const [first, ...others] = holders;
  const more = others.length > 0 ? `and ${formatCount(others.length)} more` : '';
  return (
    <>
      {first ? <ProcessName process={first} /> : <Unknown />}
      {(more || isLocal) && <small>{more || 'this process'}</small>}
    </>
  );
}

/** How many wait, and the first of them in order. */
function Waiting({ row: { waiters, waiterCount } }: { readonly row: LockRow }) {
  const count = waiterCount ?? waiters.length;
  if (count === 0) return <span class="muted">none</span>;
  return (
    <>
      {formatCount(count)}
      <small class="line">
        {waiters.slice(0, 3).map((waiter, index) => (
          <span key={index}>
            {index > 0 && ', '}
            <ProcessName process={waiter} />
          </span>
        ))}
        {waiters.length > 0 && count > Math.min(3, waiters.length) && ', …'}
      </small>
    </>
  );
}
