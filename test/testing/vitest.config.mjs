// How vitest runs the examples of docs/testing.md: with the sources of the package in place of the package.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const { compilerOptions } = JSON.parse(readFileSync(new URL('tsconfig.json', root), 'utf8'));

export default {
  resolve: {
    alias: Object.entries(compilerOptions.paths).map(([name, [file]]) => ({
      find: new RegExp(`^${name}$`),
      replacement: fileURLToPath(new URL(file, root)),
    })),
  },
  test: { include: ['*-test.ts'] },
};
