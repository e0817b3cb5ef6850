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

/** A spec in the folder of the mutated file, or with its name, is run as if it took a part of its time: it is likely to notice. */
const NEAR = 1 / 4;

/** The ids of tests by their file: the fastest first, with its load and its hooks, and sooner if it is near the file in lib that has the mutant. */
export function byFile(ids, durations, overheads, mutated) {
  const files = new Map();
  for (const id of ids) files.set(fileOf(id), [...(files.get(fileOf(id)) ?? []), id]);
  const timeOf = (file, tests) =>
    tests.reduce((sum, id) => sum + durations.get(id), overheads.get(file) ?? 1);
  const cost = ([file, tests]) => timeOf(file, tests) * NEAR ** nearness(file, mutated);
  return [...files].toSorted((a, b) => cost(a) - cost(b));
}

/** The number of folders that a spec and a file of lib share, and one more if they share their name. */
export function nearness(spec, mutated) {
  const [a, b] = [spec, mutated].map((file) => file.split('/').slice(1));
  const [name, other] = [a.pop(), b.pop()].map((file) => file.split('.')[0]);
  const apart = a.findIndex((folder, index) => folder !== b[index]);
  return (apart < 0 ? a.length : apart) + Number(name === other);
}
