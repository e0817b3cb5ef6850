import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Resolves as the project itself does: `nest-holdfast` is its own build, Nest and ioredis are its devDependencies. */
export const projectRequire = createRequire(new URL('../../package.json', import.meta.url));
export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
