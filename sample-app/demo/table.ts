type Row = Readonly<Record<string, string | number>>;

/** Plain text, headed by the names of the cells. The first column goes to the left, the others to the right. */
export function table(rows: readonly Row[]): string {
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row).map(String))];
  const widths = lines[0]!.map((_, column) =>
    Math.max(...lines.map((line) => line[column]!.length)),
  );
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!);
  return lines.map((line) => line.map(pad).join('  ')).join('\n');
}
