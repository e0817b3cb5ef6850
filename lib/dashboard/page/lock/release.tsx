import { useState } from 'preact/hooks';
import type { LockRow } from '../../api.js';
import { ReleaseDialog } from './release-dialog.js';

/** `undefined`: the lock has no holder. The dialog stays with the holder it was opened for, whatever the next snapshot says. */
export function Release({ row }: { readonly row: LockRow | undefined }) {
  const [opened, setOpened] = useState<LockRow>();
  const isKnown = row?.fencingToken !== undefined;
  return (
    <>
      {row && (
        <section class="release" aria-label="Release">
          <button type="button" class="danger" disabled={!isKnown} onClick={() => setOpened(row)}>
            Release this lock…
          </button>
          {!isKnown && (
            <p class="muted">Its fencing token is not known, so it cannot be released from here.</p>
          )}
        </section>
      )}
      {opened && <ReleaseDialog row={opened} close={() => setOpened(undefined)} />}
    </>
  );
}
