const entries = require('./lib/entries.json');
const swcOptions = require('./test/support/jest/swc-options.cjs');

// Nest 12 is ESM-only, and Jest can require() ES modules only on Node >= 24.9 behind a flag. So @nestjs/* and the few
// ESM-only packages that it pulls in are compiled to CommonJS by swc, once, and cached by Jest.
const esmOnly = [
  '@nestjs',
  '@borewit',
  '@tokenizer',
  'file-type',
  'p-queue',
  'p-timeout',
  'strtok3',
  'token-types',
  'uint8array-extras',
  // Of Fastify's `inject`.
  'light-my-request',
  'cookie',
];

/** @type {import('jest').Config} */
module.exports = {
  globalSetup: '<rootDir>/test/support/jest/run-folder.cjs',
  testEnvironment: '<rootDir>/test/support/jest/environment.cjs',
  workerIdleMemoryLimit: '800MB', // a worker keeps the modules of every spec it has run
  workerGracefulExitTimeout: 10_000, // it removes the data of its servers
  testTimeout: 120_000, // real servers, on a machine that may be busy
  testMatch: ['<rootDir>/test/**/*.spec.ts'],
  testSequencer: '<rootDir>/test/support/jest/slow-specs-first.cjs',
  transform: {
    '^.+\\.[cm]?[jt]s$': ['@swc/jest', swcOptions],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join('|')})/)`],
  resolver: '<rootDir>/test/support/jest/resolver.cjs',
  moduleNameMapper: {
    '^nest-holdfast$': '<rootDir>/lib/index.ts',
    ...Object.fromEntries(
      Object.entries(entries).map(([name, { file }]) => [
        `^nest-holdfast/${name}$`,
        `<rootDir>/lib/${file}.ts`,
      ]),
    ),
    // The live page, bundled from its sources.
    '^\\.{1,2}/(.*/)?built-page\\.js$': '<rootDir>/test/support/jest/built-page.cjs',
  },
  modulePathIgnorePatterns: [
    '<rootDir>/dist/',
    '<rootDir>/sample-app/dist/',
    '<rootDir>/.stryker-tmp/', // the copies that mutants run in
    '<rootDir>/test/packaging/consumers/',
  ],
  // What specs write into the repository for a while, so that its imports resolve as a user's do.
  watchPathIgnorePatterns: ['/(blocks|docs)-[^/]+/', '<rootDir>/(dist|coverage)/'],
  // The live page runs in a browser.
  collectCoverageFrom: ['lib/**/*.ts', '!lib/dashboard/page/**'],
  coverageProvider: 'v8',
  coverageReporters: ['text-summary', 'lcov'],
  coverageThreshold: { global: { lines: 95 } },
};
