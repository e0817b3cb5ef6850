// The runner of tests for Stryker. Stryker's own loads every spec, and with it the whole package, anew for each mutant; this one has them
// loaded, and runs the tests that reach the mutant, the fastest and nearest first.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import {
  commonTokens,
  declareFactoryPlugin,
  PluginKind,
  tokens,
} from '@stryker-mutator/api/plugin';
import { DryRunStatus, MutantRunStatus, TestStatus } from '@stryker-mutator/api/test-runner';
import folders from './folders.cjs';
import { NOT_DRAWN, beginTest, coverage, forgetModules, isDrawn, withMutant } from './mutants.mjs';
import specs from './spec-file.cjs';
import { byFile, coverageOfTests, fileOf, nameOf } from './spec-tests.mjs';

/** Ms that the tests of one mutant may compute: one that no test has noticed by then has survived. */
const BUDGET = Number(process.env.HOLDFAST_MUTATION_BUDGET ?? 3_000);
/** As much longer it may last, on a machine that does other work. */
const BUSY = 10;
/** The part of all mutants that is judged. */
const SAMPLE = Number(process.env.HOLDFAST_MUTATION_SAMPLE ?? 1);
/** A test without a mutant may take this long, in ms. */
const BASELINE_BOUND = 20_000;
/** Bound of a hook before or after a test with a mutant, in ms. */
const HOOK_BOUND = 3_000;
/** In the copy of the repository that Stryker makes. */
const DURATIONS = 'spec-durations.json';
/** A longer test judges nothing, in ms. */
const LONGEST_TEST = 1_000;
const boundOf = (ms) => 1_000 + 3 * ms;

/** Says whether the budget from now on is used up. */
function budgetOver() {
  const before = process.cpuUsage();
  const ends = performance.now() + BUSY * BUDGET;
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000 > BUDGET || performance.now() > ends;
  };
}

class SpecRunner {
  #log;
  /** By id, the ms of each test that passes without a mutant, as often as it is run. */
  #durations = new Map();
  /** By file, the ms of its load, and of what runs before and after all tests. */
  #overheads = new Map();

  constructor(log) {
    this.#log = log;
  }

  capabilities() {
    return { reloadEnvironment: true };
  }

  init() {
    const require = createRequire(path.join(process.cwd(), 'package.json'));
    // oxlint-disable-next-line import/no-unassigned-import -- it lets this process require TypeScript
    require('./test/support/jest/register-typescript.cjs');
    const { disableAsyncStorages } = require('./test/support/jest/async-storages.cjs');
    this.afterSpec = disableAsyncStorages;
    globalThis.serversOfWorker = (kind) =>
      require('./test/support/processes/servers-of-worker.ts').serverOfWorker(kind);
    specs.installGlobals();
  }

  /** Runs all tests twice: with what the first run has left, too, they have to pass. */
  async dryRun() {
    const files = folders.specFiles();
    const first = [];
    for (const file of files) first.push(...(await this.#baseline(file)));
    const again = new Map();
    for (const file of files) {
      const from = performance.now();
      const tests = await this.#baseline(file, `${file} › `);
      for (const test of tests) again.set(test.id, test);
      const spent = performance.now() - from;
      this.#overheads.set(file, spent - tests.reduce((sum, { ms }) => sum + ms, 0));
    }
    const mutantCoverage = coverageOfTests(coverage(), first);
    const tests = first.map(({ id, error }) => {
      const ms = again.get(id)?.ms ?? 0; // all modules are loaded by then, as they are for a mutant
      const failure =
        error ?? again.get(id)?.error ?? (again.has(id) ? undefined : 'did not run again');
      if (failure === undefined && ms <= LONGEST_TEST) this.#durations.set(id, ms);
      else if (failure !== undefined)
        this.#log.warn('Not used, for it fails in this runner: %s: %s', id, failure.slice(0, 200));
      const status = failure === undefined ? TestStatus.Success : TestStatus.Skipped;
      // Stryker reads these files anew at the end, for the changes until the next run. They may be gone by then.
      const file = SAMPLE < 1 ? {} : { fileName: path.resolve(fileOf(id)) };
      return { id, name: id, timeSpentMs: ms, ...file, status };
    });
    writeFileSync(DURATIONS, JSON.stringify([[...this.#durations], [...this.#overheads]]));
    return { status: DryRunStatus.Complete, tests, mutantCoverage };
  }

  /** A mutant is killed by a test that fails with it, passes without it, and fails with it again. */
  async mutantRun({ activeMutant, testFilter, hitLimit }) {
    if (!isDrawn(activeMutant, SAMPLE))
      return { status: MutantRunStatus.Error, errorMessage: NOT_DRAWN };
    // Stryker starts another process when a mutant has blocked this one.
    if (this.#durations.size === 0)
      [this.#durations, this.#overheads] = JSON.parse(readFileSync(DURATIONS)).map((each) => new Map(each)); // prettier-ignore
    const known = (testFilter ?? [...this.#durations.keys()]).filter((id) =>
      this.#durations.has(id),
    );
    const mutant = { id: activeMutant.id, hitLimit };
    const isOver = budgetOver();
    let count = 0;
    for (const [file, ids] of this.#inOrder(known, activeMutant)) {
      if (isOver()) break;
      const results = await withMutant(mutant, () => this.#run(file, ids, isOver));
      count += results.length;
      const failed = results.find(({ error }) => error);
      if (failed && (await this.#isConfirmed(mutant, file, failed))) {
        if (failed.isTimeout) return { status: MutantRunStatus.Timeout, reason: failed.id };
        const { id, error } = failed;
        const status = MutantRunStatus.Killed;
        return { status, killedBy: [id], failureMessage: error, nrOfTests: count };
      }
    }
    return { status: MutantRunStatus.Survived, nrOfTests: count };
  }

  #inOrder(ids, { fileName }) {
    return byFile(ids, fileName, this.#durations, this.#overheads);
  }

  async #isConfirmed(mutant, file, { id }) {
    const ids = this.#durations.has(id)
      ? [id]
      : [...this.#durations.keys()].filter((each) => fileOf(each) === file);
    const failsAs = (results) => results.find(({ error }) => error);
    if (failsAs(await this.#run(file, ids))) {
      this.#log.warn('Loads all modules anew: a mutant has changed what they keep, in %s', id);
      forgetModules(createRequire(import.meta.url).cache);
      if (failsAs(await this.#run(file, ids))) {
        this.#log.warn('Not judged by a test that still fails without the mutant: %s', id);
        return false;
      }
    }
    return failsAs(await withMutant(mutant, () => this.#run(file, ids))) !== undefined;
  }

  #run(file, ids, isOver) {
    const names = new Set(ids.map(nameOf));
    const bound = (name) => boundOf(this.#durations.get(`${file} › ${name}`) ?? 0);
    return this.#spec(file, {
      isChosen: (name) => names.has(name),
      boundOf: bound,
      hookBound: HOOK_BOUND,
      onTest: () => {},
      isOver,
    });
  }

  /** `atLoad` reaches what the spec does while it is loaded. The first time, that is also the load of modules, which stay loaded. */
  #baseline(file, atLoad) {
    const onTest = (name) => beginTest(`${file} › ${name ?? ''}`);
    beginTest(atLoad);
    return this.#spec(file, {
      isChosen: () => true,
      boundOf: () => BASELINE_BOUND,
      hookBound: BASELINE_BOUND,
      onTest,
      bail: false,
    });
  }

  async #spec(file, options) {
    const results = await specs.runSpec(path.resolve(file), options);
    this.afterSpec();
    return results.map((result) => ({ ...result, id: `${file} › ${result.name}` }));
  }
}

const holdfastSpecs = (log) => new SpecRunner(log);
holdfastSpecs.inject = tokens(commonTokens.logger);
export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.TestRunner, 'holdfast-specs', holdfastSpecs),
];
