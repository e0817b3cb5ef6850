// Folders of one room of lib, `HOLDFAST_MUTATION`: see mutate.mjs.
import folders from './folders.cjs';

const chosen = folders.chosen();
const name = chosen.join('+').replaceAll('/', '-');
const isWhole = Number(process.env.HOLDFAST_MUTATION_SAMPLE ?? 1) >= 1;

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'holdfast-specs',
  plugins: ['./test/mutation/spec-runner.mjs'],
  coverageAnalysis: 'perTest',
  mutate: [...chosen.map((folder) => `lib/${folder}/**/*.ts`), '!lib/**/index.ts'],
  ignorePatterns: [
    'bench',
    'dist',
    'site',
    'sample-app',
    'reports',
    'test/packaging',
    'test/compat',
  ],
  // Text for people may change; specs compare it where it matters.
  // Mutants that only the load of a module runs: each would take a process of its own.
  ignoreStatic: true,
  mutator: { excludedMutations: ['StringLiteral'] },
  incremental: isWhole,
  incrementalFile: `reports/mutation/incremental/${folders.roomOf(chosen[0]).replaceAll('/', '-')}.json`,
  reporters: ['clear-text', 'json', 'progress-append-only'],
  jsonReporter: { fileName: `reports/mutation/${name}.json` },
  clearTextReporter: { allowColor: false, reportTests: false, skipFull: true },
  allowConsoleColors: false,
  thresholds: { high: 95, low: 85, break: null },
  concurrency: Number(process.env.HOLDFAST_MUTATION_WORKERS ?? 2),
  // For a loop that blocks the process; the runner bounds its tests, and with them every other mutant.
  timeoutMS: 15_000,
  timeoutFactor: 0,
  // All specs of a room run twice before the first mutant.
  dryRunTimeoutMinutes: 60,
  tempDirName: '.stryker-tmp',
  disableTypeChecks: false,
};
