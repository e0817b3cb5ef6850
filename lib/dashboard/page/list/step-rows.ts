import { linksOf } from './kept-focus.js';

/** Arrow up and down, Home and End go from row to row. */
export function stepRows(event: KeyboardEvent): void {
  const links = linksOf(event.currentTarget as HTMLElement);
  const index = links.findIndex((link) => link === document.activeElement);
  if (index < 0) return;
  const next = {
    ArrowUp: links[index - 1],
    ArrowDown: links[index + 1],
    Home: links[0],
    End: links.at(-1),
  }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
