import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, readPage } from '../readme/support/markdown';

interface VitestReport {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numTotalTests: number;
}

const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
const files = readPage('docs/testing.md').blocks.flatMap(({ marks, code }) => {
  const name = marks.find((mark) => mark.startsWith('file='))?.slice('file='.length);
  return name ? [{ name, code }] : [];
});
/** Inside the project, so that imports resolve as a user's do. */
const folder = mkdtempSync(join(__dirname, 'docs-'));

for (const { name, code } of files) {
  mkdirSync(dirname(inFolder(name)), { recursive: true });
  writeFileSync(inFolder(name), code);
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('docs/testing.md, with Jest', () => {
  const specs = files.filter(({ name }) => name.endsWith('.spec.ts')).map(({ name }) => name);

  it('has examples', () => expect(specs).toHaveLength(3));

  // Each defines its own tests here.
  describe.each(specs)('%s', (name) => {
    require(inFolder(name));
  });
});

describe('docs/testing.md, with vitest', () => {
  it('has examples that pass', async () => {
    const report = await runVitest();
    const expected = files.filter(({ name }) => name.endsWith('.test.ts')).length;
    expect(expected).toBeGreaterThan(0);
    expect(report).toMatchObject({
      success: true,
      numPassedTests: expected,
      numTotalTests: expected,
    });
  });
});

/** Under a name that no test runner looks for by itself. */
function inFolder(name: string): string {
  return join(folder, name.replace(/\.(spec|test)\.ts$/, '-$1.ts'));
}

async function runVitest(): Promise<VitestReport> {
  const config = join(__dirname, 'vitest.config.mjs');
  const args = [VITEST, 'run', '--root', folder, '--config', config, '--reporter', 'json'];
  const foreign = /^(JEST_|NODE_OPTIONS$|NODE_ENV$)/;
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !foreign.test(name)),
  );
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
    return JSON.parse(stdout) as VitestReport;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`vitest failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}
