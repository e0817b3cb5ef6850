import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Ref } from 'preact';
import type { LockRow } from '../../api.js';
import { Foreign, processWords } from '../text/words.js';
import { requestRelease } from './release-request.js';
import type { Outcome } from './release-request.js';

interface ConfirmationProps {
  readonly row: LockRow;
  /** The text that a person types before the holder is evicted. */
  readonly token: string;
  readonly leave: () => void;
  readonly done: (outcome: Outcome) => void;
}

/** Sends nothing before the token is typed. */
export function Confirmation({ row, token, leave, done }: ConfirmationProps) {
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const [isSent, setSent] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  // Before the browser paints: what the user types next is for this field.
  useLayoutEffect(() => first.current?.focus(), []);
  const maySend = !isSent && typed.trim() === token;
  const submit = (event: Event) => {
    event.preventDefault();
    if (!maySend) return;
    setSent(true);
    const request = { key: row.key, fencingToken: token, reason: reason.trim() || undefined };
    void requestRelease(request).then(done);
  };
  return (
    <form onSubmit={submit}>
      <Warning row={row} />
      <TextField
        field={first}
        label={`To confirm, type the fencing token ${token}`}
        change={setTyped}
      />
      <TextField label="Reason, for the audit (optional)" change={setReason} />
      <p class="buttons">
        <button type="button" onClick={leave}>
          Cancel
        </button>
        <button type="submit" class="danger" disabled={!maySend}>
          {isSent ? 'Asking the holder, up to 10 s…' : 'Release'}
        </button>
      </p>
    </form>
  );
}

function Warning({ row: { holders } }: { readonly row: LockRow }) {
  return (
    <p>
      Its holder{holders.length > 0 && ', '}
      {holders.length > 0 && <Foreign text={holders.map(processWords).join('; ')} />}, is asked to
      end its work. If it does not, the lock is taken from it: its work goes on until it notices,
      while another caller may have the lock. Only a resource that checks fencing tokens is safe
      from both.
    </p>
  );
}

interface TextFieldProps {
  readonly field?: Ref<HTMLInputElement>;
  readonly label: string;
  readonly change: (value: string) => void;
}

function TextField({ field, label, change }: TextFieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        ref={field}
        type="text"
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </label>
  );
}
