import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from './run-command.mjs';

/** Specs that break servers, fill processes and count milliseconds: one at a time, and without coverage, which slows them. */
const ALONE = ['test/faults', 'test/processes', 'test/leaks', 'test/packaging'];

/** Runs all other specs with coverage, and counts the tests. */
export function runJest() {
  const others = ALONE.flatMap((folder) => ['--testPathIgnorePatterns', `/${folder}/`]);
  return counted(['npx', 'jest', '--coverage', '--maxWorkers=2', ...others]);
}

/** Runs those that want the machine for themselves, and counts the tests. */
export function runAlone() {
  return counted(['npx', 'jest', '--runInBand', ...ALONE.map((folder) => `/${folder}/`)]);
}

/** Runs the specs of the Nest layer on older versions of Nest, and counts the tests. */
export function runCompat() {
  return counted(['node', 'test/compat/run.mjs', '--', '--maxWorkers=2']);
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
