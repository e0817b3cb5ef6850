// The id of a test is its file and its name: `test/core/text/printable.spec.ts › printable writes a bell as an escape`.
export const fileOf = (id) => id.slice(0, id.indexOf(' › '));
export const nameOf = (id) => id.slice(id.indexOf(' › ') + 3);

/** What a spec does while it is loaded, its hooks before all tests, and what they leave running, belong to each of its tests. */
export function coverageOfTests({ static: atLoad, perTest }, tests) {
  const result = { static: atLoad, perTest: {} };
  for (const { id } of tests) {
    result.perTest[id] = { ...perTest[`${fileOf(id)} › `], ...perTest[id] };
  }
  return result;
}

/** The folder of test that belongs to a file of lib: `test/core/text/` for `…/lib/core/text/printable.ts`. */
const besides = (file) =>
  `test/${file.replaceAll('\\', '/').replace(/^.*\blib[/]/, '')}`.replace(/[^/]*$/, '');

/** A spec of the mutant's own folder comes before others that take this many times less. */
const PREFERENCE = 10;

/** The ids of tests by their file, the fastest file first, with its load and its hooks. Those of the folder of `mutated` are preferred. */
export function byFile(ids, mutated, durations, overheads) {
  const files = new Map();
  for (const id of ids) files.set(fileOf(id), [...(files.get(fileOf(id)) ?? []), id]);
  const own = besides(mutated);
  const timeOf = ([file, tests]) => {
    const time = tests.reduce((sum, id) => sum + durations.get(id), overheads.get(file) ?? 0);
    return file.startsWith(own) ? time / PREFERENCE : time;
  };
  return [...files].toSorted((a, b) => timeOf(a) - timeOf(b));
}
