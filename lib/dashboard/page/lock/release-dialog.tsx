import { useEffect, useRef, useState } from 'preact/hooks';
import type { LockRow } from '../../api.js';
import { Foreign, processWords } from '../text/words.js';
import { requestRelease } from './release-request.js';
import type { Outcome } from './release-request.js';

interface ReleaseDialogProps {
  readonly row: LockRow;
  readonly close: () => void;
}

/** Asks for the fencing token before it releases. The browser keeps the focus inside, and gives it back. */
export function ReleaseDialog({ row, close }: ReleaseDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [outcome, setOutcome] = useState<Outcome>();
  useEffect(() => dialog.current?.showModal(), []);
  const leave = () => dialog.current?.close();
  return (
    <dialog ref={dialog} aria-labelledby="release-title" onClose={close}>
      <h2 id="release-title">
        Release <Foreign text={row.key} />?
      </h2>
      {outcome ? (
        <Result outcome={outcome} leave={leave} />
      ) : (
        <Confirmation row={row} leave={leave} done={setOutcome} />
      )}
    </dialog>
  );
}

interface ConfirmationProps {
  readonly row: LockRow;
  readonly leave: () => void;
  readonly done: (outcome: Outcome) => void;
}

function Confirmation({ row, leave, done }: ConfirmationProps) {
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const [isSent, setSent] = useState(false);
  const fencingToken = row.fencingToken!;
  const submit = (event: Event) => {
    event.preventDefault();
    if (isSent || typed.trim() !== fencingToken) return;
    setSent(true);
    const request = { key: row.key, fencingToken, reason: reason.trim() || undefined };
    void requestRelease(request).then(done);
  };
  return (
    <form onSubmit={submit}>
      <Warning row={row} />
      <TextField label={`To confirm, type the fencing token ${fencingToken}`} change={setTyped} />
      <TextField label="Reason, for the audit (optional)" change={setReason} />
      <p class="buttons">
        <button type="button" onClick={leave}>
          Cancel
        </button>
        <button type="submit" class="danger" disabled={isSent || typed.trim() !== fencingToken}>
          {isSent ? 'Releasing…' : 'Release'}
        </button>
      </p>
    </form>
  );
}

function Warning({ row: { holders } }: { readonly row: LockRow }) {
  return (
    <p>
      The work of its holder{holders.length > 0 && ', '}
      {holders.length > 0 && <Foreign text={holders.map(processWords).join('; ')} />}, goes on until
      it notices. Meanwhile another caller gets the lock. Only a resource that checks fencing tokens
      is safe from both.
    </p>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly change: (value: string) => void;
}

function TextField({ label, change }: TextFieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </label>
  );
}

function Result({ outcome, leave }: { readonly outcome: Outcome; readonly leave: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <>
      <p role="status" class={outcome.isReleased ? 'good' : 'bad'}>
        {outcome.words}
      </p>
      <p class="buttons">
        <button ref={button} type="button" onClick={leave}>
          Close
        </button>
      </p>
    </>
  );
}
