import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from './run-command.mjs';

/** Runs every spec with coverage, and counts the tests. */
export async function runJest() {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-jest-'));
  const report = join(directory, 'report.json');
  try {
    const options = ['--coverage', '--json', `--outputFile=${report}`, '--maxWorkers=2'];
    const exitCode = await runCommand(['npx', 'jest', ...options]);
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
