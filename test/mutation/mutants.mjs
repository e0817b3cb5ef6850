import { createHash } from 'node:crypto';
import path from 'node:path';

/** The global that the code with mutants reads and counts: Stryker has chosen its name. */
const STRYKER = '__stryker__';
globalThis[STRYKER] ??= {};

/** How often each test has reached each mutant. */
export const coverage = () => globalThis[STRYKER].mutantCoverage ?? { static: {}, perTest: {} };

/** Mutants that are reached from now on belong to this test; without one, to the load of the modules. */
export function beginTest(id) {
  globalThis[STRYKER].currentTestId = id;
}

/** Runs `run` with one mutant switched on. Code that reaches it more than `hitLimit` times is ended by an error. */
export async function withMutant({ id, hitLimit }, run) {
  const hitCount = hitLimit === undefined ? undefined : 0;
  Object.assign(globalThis[STRYKER], { activeMutant: id, hitLimit, hitCount });
  try {
    return await run();
  } finally {
    const none = { activeMutant: undefined, hitLimit: undefined, hitCount: undefined };
    Object.assign(globalThis[STRYKER], none);
  }
}

/** Forgets the modules of lib and of the tests, but for the servers and what loads TypeScript. */
export function forgetModules(cache) {
  for (const file of Object.keys(cache)) {
    const name = path.relative(process.cwd(), file).replaceAll(path.sep, '/');
    if (/^(lib|test)\/(?!support\/(servers|processes|jest)\/)/.test(name)) delete cache[file];
  }
}

/** The reason of a mutant that a run of a sample leaves out. */
export const NOT_DRAWN = 'not drawn';

/** Whether a mutant is in a sample of `part` of all. The same mutants are drawn each time. */
export function isDrawn({ fileName, location, mutatorName, replacement }, part) {
  const { line, column } = location.start;
  const name = [path.basename(fileName), line, column, mutatorName, replacement].join('\n');
  return createHash('sha256').update(name).digest().readUInt32BE() / 2 ** 32 < part;
}
