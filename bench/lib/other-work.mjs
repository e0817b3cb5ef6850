/** What an application does between two locks: it allocates, serialises, parses, sorts and matches. A few milliseconds. */
export function otherWork(seed) {
  const rows = Array.from({ length: 900 }, (_, index) => ({
    id: (index * 7_919 + seed) % 1_009,
    name: `row ${index} of ${seed}`,
    tags: ['a', 'b', String(index)],
  }));
  const text = JSON.stringify(rows);
  const sorted = JSON.parse(text).sort((a, b) => a.id - b.id || a.name.localeCompare(b.name));
  return sorted.filter(({ name }) => /o[wf] 1?\d+/.test(name)).length + text.length;
}
