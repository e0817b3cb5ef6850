/** How often in a row each one has a turn: `[a, a, b]` gives `[2, 1]`. */
export function lengthsOfRows(turns: readonly unknown[]): number[] {
  const lengths: number[] = [];
  turns.forEach((turn, index) => {
    if (index > 0 && turn === turns[index - 1]) lengths.push(lengths.pop()! + 1);
    else lengths.push(1);
  });
  return lengths;
}
