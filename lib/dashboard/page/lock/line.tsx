import type { LockRow } from '../../api.js';
import { countOf, formatCount } from '../text/format.js';
import { ProcessFact } from './facts.js';

/** The waiters in their order. */
export function Line({ row: { waiters, waiterCount } }: { readonly row: LockRow }) {
  const count = waiterCount ?? waiters.length;
  const others = count - waiters.length;
  return (
    <section class="waiters" aria-label="Waiters">
      <h3>{count === 0 ? 'Nobody waits' : `${countOf(count, 'waiter')}, in order`}</h3>
      <ol>
        {waiters.map((waiter, index) => (
          <li key={index}>
            <ProcessFact process={waiter} />
          </li>
        ))}
      </ol>
      {others > 0 && waiters.length > 0 && <p class="muted">{`and ${formatCount(others)} more`}</p>}
      {others > 0 && waiters.length === 0 && (
        <p class="muted">The store does not tell which processes they are.</p>
      )}
    </section>
  );
}
