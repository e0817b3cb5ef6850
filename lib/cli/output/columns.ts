import { stripVTControlCharacters } from 'node:util';

/** Rows below each other, in columns as wide as their widest cell. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, widthOf(cell))));
  const lines = rows.map((row) =>
    row.map((cell, index) => cell + ' '.repeat(widths[index]! - widthOf(cell))).join('  '),
  );
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** Without the characters that colour it. */
function widthOf(cell: string): number {
  return Array.from(stripVTControlCharacters(cell)).length;
}
