import { appendFileSync } from 'node:fs';
import type { LockAuditEvent } from '../../core/events/attempt-events.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import { usageError } from './command-error.js';
import { jsonOf } from './output.js';

/** Appends events to a file; without one it does nothing. Throws `CommandError` for a file that cannot be written. */
export function openAudit(file: string | undefined): (event: LockAuditEvent) => void {
  if (file === undefined) return () => {};
  const append = (text: string) => {
    try {
      appendFileSync(file, text, { mode: 0o600 });
    } catch (error) {
      throw usageError(`--audit-file cannot be written: ${reasonOf(error)}`);
    }
  };
  append(''); // before anything is evicted
  return (event) => append(`${jsonOf({ ...event, at: new Date(event.at).toISOString() })}\n`);
}
