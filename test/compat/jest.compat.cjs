const path = require('node:path');
const base = require('../../jest.config.js');

// Packages that must exist once: everything that Nest, the library and the specs import comes from the same folder.
const ONE_COPY =
  '@nestjs/.*|rxjs|rxjs/.*|reflect-metadata|class-validator|class-transformer|ioredis|ws';
/** Specs that have little to do with Nest, or need packages that are installed for the newest one only. */
const NEWEST_ONLY = [
  'swagger',
  'parameter-names',
  'misuse(-keys)?',
  'unlock-before-commit',
  'transports/graphql/[\\w-]+',
  'transports/websocket/(client-gone|iterables|websocket)',
  'transports/jobs/(bullmq[\\w-]*|commander.process)',
  'transports/microservices/(client-leaves|nats)',
  'transports/events/cqrs',
  'calls/parts/locked-method', // a field of GraphQL
  'service-errors-sockets', // Nest 11 and 10 send no exception over a plain WebSocket
];
const majors = (process.env.NEST_MAJORS ?? '10,11').split(',');

/** @type {import('jest').Config} */
module.exports = {
  testTimeout: base.testTimeout,
  projects: majors.map((major) => ({
    displayName: `nest${major}`,
    rootDir: path.join(__dirname, '..', '..'),
    globalSetup: base.globalSetup,
    testEnvironment: base.testEnvironment,
    testMatch: [
      '<rootDir>/test/{nest,terminus}/**/*.spec.ts',
      '<rootDir>/test/dashboard/entries/nest*.spec.ts',
    ],
    testPathIgnorePatterns: ['/node_modules/', `/(${NEWEST_ONLY.join('|')})\\.spec\\.ts$`],
    transform: base.transform,
    transformIgnorePatterns: ['/node_modules/(?!(p-queue|p-timeout)/)'], // these versions of Nest are CommonJS
    modulePathIgnorePatterns: base.modulePathIgnorePatterns,
    resolver: base.resolver,
    moduleNameMapper: {
      ...base.moduleNameMapper,
      [`^(${ONE_COPY})$`]: `<rootDir>/test/compat/nest${major}/node_modules/$1`,
    },
  })),
};
