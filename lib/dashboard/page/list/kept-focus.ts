import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Keeps the focus on the row of a lock when rows come, go and change places: a browser takes it from an element that is moved. Where
 * the row is gone, the one that is now in its place gets it. `first` gets it when the table appears.
 */
export function useKeptFocus(
  table: RefObject<HTMLElement | null>,
  first: string | undefined,
): void {
  const before = focusedRow(table.current);
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    const links = linksOf(table.current);
    const wanted = isFirst.current ? first : before?.key;
    isFirst.current = false;
    if (wanted === undefined || table.current?.contains(document.activeElement)) return;
    const same = links.find(({ dataset }) => dataset.key === wanted);
    const neighbour = before && links[Math.min(before.index, links.length - 1)];
    (same ?? neighbour)?.focus({ preventScroll: same === undefined });
  });
}

interface FocusedRow {
  readonly key: string;
  readonly index: number;
}

/** Before the table is rendered anew. */
function focusedRow(table: HTMLElement | null): FocusedRow | undefined {
  const links = linksOf(table);
  const index = links.findIndex((link) => link === document.activeElement);
  return index < 0 ? undefined : { key: links[index]!.dataset.key!, index };
}

export function linksOf(table: HTMLElement | null): HTMLElement[] {
  return [...(table?.querySelectorAll<HTMLElement>('a[data-key]') ?? [])];
}
