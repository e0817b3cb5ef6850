import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  LockDeadlockError,
  LockDrainingError,
  type LockError,
  LockKeyError,
  LockLostError,
  LockPermitsError,
  LockStoreError,
  LockTimeoutError,
  LockUnsupportedError,
} from 'nest-holdfast/core';
import { FencingTimeoutError, FencingTokenError, LockStaleError } from 'nest-holdfast/fencing';
import { httpStatus, publicMessage } from '../../lib/http/lock-status.js';

const DOCS = readFileSync(join(__dirname, '..', '..', 'docs', 'errors.md'), 'utf8');
const KEY = 'user:bob@example.com';
const report = {
  ended: '0 of 3 nodes granted, 2 were needed',
  nodes: [{ node: '10.0.0.7:6379', said: 'NOPERM this user has no permissions' }],
};
const ERRORS: [LockError, number, string][] = [
  [new LockTimeoutError(KEY, 300, { report }), 409, 'The lock is held'],
  [
    new LockStoreError(KEY, 'redlock', 'connect ECONNREFUSED', { report }),
    503,
    'The lock store is not available',
  ],
  [new LockDrainingError(KEY), 503, 'The server is shutting down'],
  [new LockKeyError('<body.id> must be …', KEY), 400, 'The request gives no valid lock key'],
  [new LockStaleError(KEY, 1n, 1763717225000123n), 409, 'The fencing token is stale'],
  [new FencingTokenError(KEY, 'missing', KEY), 428, 'The fencing token is missing'],
  [new FencingTokenError(KEY, 'malformed', KEY), 400, 'The fencing token is not valid'],
  [new FencingTimeoutError(KEY, 300), 409, 'An earlier write is still in progress'],
  [new LockLostError(KEY, 'gone'), 500, 'Internal server error'],
  [new LockDeadlockError('it would wait for itself', KEY), 500, 'Internal server error'],
  [new LockPermitsError(KEY, 3, 5), 500, 'Internal server error'],
  [new LockUnsupportedError(KEY, 'redlock', 'it cannot'), 500, 'Internal server error'],
];

describe('A client is told', () => {
  it.each(ERRORS)('%s: %i, %s', (error, status, message) => {
    expect(httpStatus(error)).toBe(status);
    expect(publicMessage(error)).toBe(message);
    expect(DOCS).toContain(`\`${message}\``);
  });
});
