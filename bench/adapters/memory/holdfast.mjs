import { holdfast } from '../../lib/holdfast.mjs';
import { projectRequire } from '../../lib/project.mjs';

const { MemoryLockStore } = projectRequire('nest-holdfast');

export default () => [
  holdfast('holdfast-memory', {
    features: ['memory'],
    quick: true,
    open: () => ({ store: new MemoryLockStore() }),
  }),
];
