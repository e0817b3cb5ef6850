import type { ComponentChildren } from 'preact';
import type { Snapshot } from '../../api.js';
import { Foreign, readerWords } from '../text/words.js';
import { formatCount } from '../text/format.js';

/** The limits of the list: why it may lack locks. */
export function Notes({ snapshot }: { readonly snapshot: Snapshot }) {
  const { failure, canList, isComplete, isReading, reader, locks, total } = snapshot;
  const hasRead = locks.some(({ isLocal }) => !isLocal);
  return (
    <div class="notes" role="status">
      {failure !== undefined && (
        <Note kind="failed">
          {hasRead ? 'Not all of the store was read' : 'The store was not read'}:{' '}
          <Foreign text={failure} />. Shown are {hasRead && 'what was read and '}the locks of this
          process, <Foreign text={readerWords(reader)} />.
        </Note>
      )}
      {!canList && failure === undefined && (
        <Note kind="part">
          This store cannot list its locks. Shown are those of this process,{' '}
          <Foreign text={readerWords(reader)} />.
        </Note>
      )}
      {isReading && <Note kind="part">The store is being read…</Note>}
      {canList && failure === undefined && !isComplete && !isReading && (
        <Note kind="part">
          The list is incomplete: the store has more locks than are read at once. A search for a key
          narrows it.
        </Note>
      )}
      {locks.length < total && (
        <Note kind="part">
          {`Shown: the ${formatCount(locks.length)} most urgent of ${formatCount(total)}.`}
        </Note>
      )}
    </div>
  );
}

interface NoteProps {
  readonly kind: 'failed' | 'part';
  readonly children: ComponentChildren;
}

function Note({ kind, children }: NoteProps) {
  return <p class={`note ${kind}`}>{children}</p>;
}
