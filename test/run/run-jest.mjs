import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from './run-command.mjs';

/** Runs every spec with coverage, and counts the tests. */
export function runJest() {
  return counted(['npx', 'jest', '--coverage']);
}

/** Runs the specs of the Nest layer on older versions of Nest, and counts the tests. */
export function runCompat() {
  return counted(['node', 'test/compat/run.mjs', '--']);
}

async function counted(words) {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-jest-'));
  const report = join(directory, 'report.json');
  try {
    const options = ['--json', `--outputFile=${report}`, '--maxWorkers=2'];
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
