import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { LockRow } from '../../api.js';
import { Foreign } from '../text/words.js';
import { Confirmation } from './confirmation.js';
import type { Outcome } from './release-request.js';

interface ReleaseDialogProps {
  readonly row: LockRow;
  readonly close: () => void;
}

/** Asks for the fencing token before it releases. The browser keeps the focus inside, and gives it back. */
export function ReleaseDialog({ row, close }: ReleaseDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [outcome, setOutcome] = useState<Outcome>();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const leave = () => dialog.current?.close();
  const token = outcome ? outcome.nextToken : row.fencingToken;
  return (
    <dialog ref={dialog} aria-labelledby="release-title" onClose={close}>
      <h2 id="release-title">
        Release <Foreign text={row.key} />?
      </h2>
      {outcome && (
        <p role="status" class={outcome.isReleased ? 'good' : 'bad'}>
          {outcome.words}
        </p>
      )}
      {token === undefined ? (
        <Leave leave={leave} />
      ) : (
        <Confirmation key={token} row={row} token={token} leave={leave} done={setOutcome} />
      )}
    </dialog>
  );
}

function Leave({ leave }: { readonly leave: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => button.current?.focus(), []);
  return (
    <p class="buttons">
      <button ref={button} type="button" onClick={leave}>
        Close
      </button>
    </p>
  );
}
