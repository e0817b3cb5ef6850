import { readdirSync } from 'node:fs';
import path from 'node:path';
import { RedisScript } from '../../../lib/redis-client/redis-script.js';
import { type Mutant, withMutant } from './mutants.js';

interface Result {
  readonly name: string;
  readonly ms: number;
  readonly error?: string;
}

interface SpecFile {
  installGlobals(): void;
  runSpec(file: string, options: object): Promise<Result[]>;
}

const specs = require('../spec-file.cjs') as SpecFile;

/** About the scripts, and quick: no faults, variants, processes or models. */
export const FOLDERS = ['lua', 'queue', 'sharing', 'keys', 'inspect', 'evict', 'lease', 'send'];
const QUICK = /^(?!.*[.](fault|variant|process|model)[.]spec[.]ts$).*[.]spec[.]ts$/;
/** Milliseconds of a test that judges nothing, as it takes too long for each mutant. */
const LONGEST_TEST = 3_000;
const BOUND = 20_000;
const boundOf = (ms: number) => 1_000 + 3 * ms;

/** The specs of the Redis store, as judges of a mutant. They run in this process. */
export class SpecJudge {
  #mutant: Mutant | undefined;
  /** The milliseconds of each test, by its file: the fastest file first. */
  #files: readonly (readonly [file: string, tests: ReadonlyMap<string, number>])[] = [];

  /** Runs all specs as they are: what fails here judges nothing. */
  async prepare(folders: readonly string[]): Promise<void> {
    this.#sendMutants();
    const servers = require('../../support/processes/servers-of-worker.js') as { serverOfWorker: unknown }; // prettier-ignore
    Object.assign(globalThis, { serversOfWorker: servers.serverOfWorker });
    specs.installGlobals();
    const files: [string, Map<string, number>][] = [];
    for (const file of specFiles(folders)) {
      const tests = await this.#passing(file);
      if (tests.size > 0) files.push([file, tests]);
    }
    const timeOf = (tests: ReadonlyMap<string, number>) => [...tests.values()].reduce((a, b) => a + b, 0); // prettier-ignore
    this.#files = files.toSorted(([, a], [, b]) => timeOf(a) - timeOf(b));
  }

  /** The test that fails with the mutant, passes without it, and fails with it again. */
  async noticedBy(mutant: Mutant): Promise<string | undefined> {
    for (const [file, tests] of this.#files) {
      const failed = await this.#failure(file, tests, mutant);
      if (!failed || (await this.#failure(file, tests, undefined))) continue;
      if (await this.#failure(file, tests, mutant)) return `${file} › ${failed.name}`;
    }
    return undefined;
  }

  async #failure(file: string, tests: ReadonlyMap<string, number>, mutant: Mutant | undefined) {
    this.#mutant = mutant;
    try {
      const results = await specs.runSpec(file, {
        isChosen: (name: string) => tests.has(name),
        boundOf: (name: string) => boundOf(tests.get(name)!),
        hookBound: BOUND,
        onTest: () => undefined,
      });
      return results.find(({ error }) => error);
    } finally {
      this.#mutant = undefined;
    }
  }

  async #passing(file: string): Promise<Map<string, number>> {
    const all = { isChosen: () => true, boundOf: () => BOUND, hookBound: BOUND, onTest: () => undefined, bail: false }; // prettier-ignore
    const first = await specs.runSpec(file, all);
    const again = await specs.runSpec(file, all);
    const failing = new Set([...first, ...again].filter(({ error }) => error).map(({ name }) => name)); // prettier-ignore
    const passing = first.filter(({ name, ms }) => !failing.has(name) && ms < LONGEST_TEST);
    return new Map(passing.map(({ name, ms }) => [name, ms]));
  }

  /** A mutant is a script of its own, sent as every other. */
  #sendMutants(): void {
    const scripts = new Map<string, RedisScript>();
    const run: unknown = Reflect.get(RedisScript.prototype, 'run');
    const scriptOf = (script: RedisScript) => {
      const source = this.#mutant ? withMutant(script.source, this.#mutant) : script.source;
      if (source === script.source) return script;
      if (!scripts.has(source)) scripts.set(source, new RedisScript(source));
      return scripts.get(source)!;
    };
    RedisScript.prototype.run = function runMutant(this: RedisScript, ...args: any[]) {
      return Reflect.apply(run as typeof RedisScript.prototype.run, scriptOf(this), args) as never;
    };
  }
}

function specFiles(folders: readonly string[]): string[] {
  const room = path.resolve('test/stores/redis');
  const files = folders.flatMap(
    (folder) =>
    readdirSync(path.join(room, folder), { recursive: true }).map((file) => path.join(folder, String(file))), // prettier-ignore
  );
  return files.filter((file) => QUICK.test(file)).map((file) => path.join(room, file));
}
