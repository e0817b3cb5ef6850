/** A Markdown table, aligned so that it reads well in a terminal too: numbers right, words left. */
export function table(columns, rows) {
  const cells = [columns, ...rows.map((row) => columns.map((column) => format(row[column])))];
  const widths = columns.map((_, i) => Math.max(3, ...cells.map((line) => line[i].length)));
  const isText = columns.map((column) => rows.some((row) => typeof row[column] === 'string'));
  const pad = (text, i) => (isText[i] ? text.padEnd(widths[i]) : text.padStart(widths[i]));
  const lines = cells.map((line) => `| ${line.map(pad).join(' | ')} |`);
  const rule = widths.map((width, i) =>
    isText[i] ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [lines[0], `| ${rule.join(' | ')} |`, ...lines.slice(1)].join('\n');
}

/** Three significant digits; a dash for what was not measured. */
export function format(value) {
  if (value === undefined) return '';
  if (value === null) return '-'; // a NaN that was kept as JSON
  if (typeof value === 'string') return value.replaceAll('|', '\\|');
  if (!Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 1_000) return String(Math.round(value));
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(size >= 1 ? 2 : 3);
}
