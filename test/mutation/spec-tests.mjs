// The id of a test is its file and its name: `test/core/text/printable.spec.ts › printable writes a bell as an escape`.
export const fileOf = (id) => id.slice(0, id.indexOf(' › '));
export const nameOf = (id) => id.slice(id.indexOf(' › ') + 3);

/** Hooks that run before all tests of a file, and what they leave running, belong to each of its tests. */
export function coverageOfTests({ static: atLoad, perTest }, tests) {
  const result = { static: atLoad, perTest: {} };
  for (const { id } of tests) {
    result.perTest[id] = { ...perTest[`${fileOf(id)} › `], ...perTest[id] };
  }
  return result;
}

/** The ids of tests by their file, the fastest file first. */
export function byFile(ids, durations) {
  const files = new Map();
  for (const id of ids) files.set(fileOf(id), [...(files.get(fileOf(id)) ?? []), id]);
  const timeOf = ([, tests]) => tests.reduce((sum, id) => sum + durations.get(id), 0);
  return [...files].toSorted((a, b) => timeOf(a) - timeOf(b));
}
