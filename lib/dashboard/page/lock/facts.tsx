import type { ComponentChildren } from 'preact';
import type { LockRow, Process } from '../../api.js';
import { Age, TimeLeft } from '../text/ticking.js';
import { formatTime } from '../text/format.js';
import { Foreign, processWords } from '../text/words.js';
import { visible } from '../text/visible.js';

interface FactsProps {
  readonly row: LockRow;
  /** Time of the snapshot. */
  readonly at: number;
}

const UNKNOWN = <span class="muted">not known</span>;

export function Facts({ row, at }: FactsProps) {
  const { holders, heldFor, remaining, fencingToken, mode, isLocal } = row;
  return (
    <dl class="facts">
      <Fact name={holders.length === 1 ? 'Holder' : 'Holders'}>
        {holders.map((holder, index) => (
          <ProcessFact key={index} process={holder} />
        ))}
        {isLocal && <small>this process serves the page</small>}
      </Fact>
      <Fact name="Age">
        {heldFor === undefined ? UNKNOWN : <Age ms={heldFor} />}
        {heldFor !== undefined && <small>since {formatTime(at - heldFor)}</small>}
      </Fact>
      <Fact name="Time left">
        {remaining === undefined ? UNKNOWN : <TimeLeft ms={remaining} />}
        {remaining !== undefined && <small>unless its holder extends it</small>}
      </Fact>
      <Fact name="Fencing token">
        {fencingToken === undefined ? UNKNOWN : <code>{fencingToken}</code>}
      </Fact>
      <Fact name="Mode">
        {mode === 'permits' ? `semaphore, ${String(row.permits)} permits` : mode}
      </Fact>
    </dl>
  );
}

interface FactProps {
  readonly name: string;
  readonly children: ComponentChildren;
}

function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function ProcessFact({ process }: { readonly process: Process }) {
  const { since } = process;
  return (
    <span class="process-fact" title={visible(process.text)}>
      <Foreign text={processWords(process)} />
      {since !== undefined && <small> started {formatTime(since)}</small>}
    </span>
  );
}
