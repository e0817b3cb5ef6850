import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from './run-command.mjs';

/** Specs that fill processes, and count milliseconds or what is left in a process: one at a time, and without coverage, which slows them. */
const ALONE = ['test/processes', 'test/leaks', 'test/packaging'];
/** Specs that break servers and wait for what follows, or explore a model: some at a time, and without coverage as well. */
const UNCOVERED = ['test/failover', 'test/faults', 'test/model'];
/** Specs that compute much and cover little that others do not. Not beside those that break servers: these count time. */
const COMPUTING = ['test/nest/doors', 'test/properties', 'test/readme', 'test/sample-app'];
/** Servers and clocks are waited for, too. */
const WORKERS = ['--maxWorkers=4'];

/** Runs all other specs with coverage, and counts the tests. */
export function runJest() {
  const others = [...ALONE, ...UNCOVERED, ...COMPUTING].flatMap((each) => [
    '--testPathIgnorePatterns',
    `/${each}/`,
  ]);
  return counted(['npx', 'jest', '--coverage', ...WORKERS, ...others]);
}

/** Runs those that coverage would only slow, and counts the tests. */
export function runUncovered() {
  return counted(['npx', 'jest', ...WORKERS, ...foldersOf(UNCOVERED)]);
}

/** Runs those that only compute, and counts the tests. */
export function runComputing() {
  return counted(['npx', 'jest', ...WORKERS, ...foldersOf(COMPUTING)]);
}

/** Runs those that want the machine for themselves, and counts the tests. */
export function runAlone() {
  return counted(['npx', 'jest', '--runInBand', ...foldersOf(ALONE)]);
}

/** Runs the specs of the Nest layer on older versions of Nest, and counts the tests. */
export function runCompat() {
  return counted(['node', 'test/compat/run.mjs', '--', '--maxWorkers=3']);
}

function foldersOf(names) {
  return names.map((name) => `/${name}/`);
}

async function counted(words) {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-jest-'));
  const report = join(directory, 'report.json');
  try {
    const options = ['--json', `--outputFile=${report}`];
    const exitCode = await runCommand([...words, ...options]);
    return countTests(exitCode, JSON.parse(await readFile(report, 'utf8')));
  } catch (error) {
    console.error('Jest left no report:', error);
    return { failed: 1 };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function countTests(exitCode, report) {
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  const failedOtherwise = exitCode !== 0 && failed === 0; // by a coverage threshold, say
  return {
    passed: report.numPassedTests,
    failed: failedOtherwise ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
