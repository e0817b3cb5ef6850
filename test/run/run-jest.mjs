import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { runCommand } from './run-command.mjs';

/** More workers than cores: many specs wait for servers and clocks. */
const WORKERS = ['--maxWorkers=5'];
const KINDS = ['fault', 'variant', 'process', 'model'];
/** Without npx between: a run that does not end is ended by its pid. */
const JEST = ['node', 'node_modules/jest/bin/jest.js'];

const durations = [];

/** Runs every spec without a suffix of its own, and counts the tests. */
export function runSpecs({ leftOut = [] } = {}) {
  const others = String.raw`\.(${KINDS.join('|')})\.spec\.ts$`;
  return counted([...WORKERS, ...without([others, ...leftOut.map(asPattern)])]);
}

/** Runs the specs of one suffix: `fault`, `variant`, `process` or `model`. Those that want the machine for themselves run `alone`. */
export function runKind(kind, { alone = false, leftOut = [] } = {}) {
  const pattern = String.raw`\.${kind}\.spec\.ts$`;
  const words = alone ? ['--runInBand'] : WORKERS;
  return counted([...words, pattern, ...without(leftOut.map(asPattern))]);
}

/** Runs the specs of the Nest layer on older versions of Nest, and counts the tests. */
export function runCompat() {
  return counted(['--maxWorkers=3'], ['node', 'test/compat/run.mjs', '--']);
}

/** The specs, of all that ran, that took longest: a line each. */
export function slowestSpecs(count) {
  const slowest = durations.toSorted((a, b) => b.seconds - a.seconds).slice(0, count);
  return slowest.map(({ seconds, name }) => `${seconds.toFixed(1).padStart(6)} s  ${name}`);
}

/** The specs that import what starts one of these servers, directly or through others. */
export async function specsThatNeed(servers) {
  if (servers.length === 0) return [];
  const sources = servers.map(({ startedBy }) => startedBy);
  const options = ['--listTests', '--findRelatedTests', ...sources];
  const { stdout } = await promisify(execFile)('npx', ['jest', ...options]);
  return stdout.split('\n').filter(Boolean).map(nameOf);
}

function without(patterns) {
  return patterns.flatMap((pattern) => ['--testPathIgnorePatterns', pattern]);
}

function asPattern(name) {
  return `/${name.replaceAll('.', String.raw`\.`)}$`;
}

function nameOf(path) {
  return relative(process.cwd(), path);
}

async function counted(words, program = JEST) {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-jest-'));
  const file = join(directory, 'report.json');
  try {
    const options = ['--json', `--outputFile=${file}`];
    const exitCode = await runCommand([...program, ...words, ...options]);
    const report = JSON.parse(await readFile(file, 'utf8'));
    for (const { name, startTime, endTime } of report.testResults)
      durations.push({ name: nameOf(name), seconds: (endTime - startTime) / 1_000 });
    return countTests(exitCode, report);
  } catch (error) {
    console.error('Jest left no report:', error);
    return { failed: 1 };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function countTests(exitCode, report) {
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  const failedOtherwise = exitCode !== 0 && failed === 0;
  return {
    passed: report.numPassedTests,
    failed: failedOtherwise ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
