import type { LockRow, Process } from '../../api.js';
import { formatTime } from './format.js';
import { visible } from './visible.js';

export const STATE_WORDS: Readonly<Record<LockRow['state'], string>> = {
  held: 'held',
  jeopardy: 'in jeopardy',
  overdue: 'overdue',
};

export function StateBadge({ state }: { readonly state: LockRow['state'] }) {
  return <span class={`badge ${state}`}>{STATE_WORDS[state]}</span>;
}

/** `read`, or how many of the permits are taken; nothing for a write lock. */
export function ModeTag({ row }: { readonly row: LockRow }) {
  const { mode, permits, holders } = row;
  if (mode === 'write') return null;
  const words =
    mode === 'permits' && typeof permits === 'number'
      ? `${holders.length} of ${permits} permits`
      : mode;
  return <span class="tag">{words}</span>;
}

/** A key, or another text from outside: with nothing in it unseen, and with a direction of its own. */
export function Foreign({ text }: { readonly text: string }) {
  return <bdi>{visible(text)}</bdi>;
}

/** `host, pid 4121`. */
export function processWords({ host, pid, text }: Process): string {
  if (host === undefined) return text;
  return pid === undefined ? host : `${host}, pid ${pid}`;
}

/** `shop-1, pid 4121`, from `shop-1:4121:1772620090000`. */
export function readerWords(reader: string): string {
  return reader.replace(/^(.+):(\d+):\d+$/, '$1, pid $2');
}

/** All that is known of a process. */
export function processTitle(process: Process): string {
  const { since, text } = process;
  return since === undefined ? visible(text) : `${visible(text)}, started ${formatTime(since)}`;
}

export function ProcessName({ process }: { readonly process: Process }) {
  const { host, pid, text } = process;
  return (
    <span class="process" title={processTitle(process)}>
      <Foreign text={host ?? text} />
      {pid !== undefined && host !== undefined && <span class="pid"> {pid}</span>}
    </span>
  );
}
