import { holdfast } from '../../lib/holdfast.mjs';
import { projectRequire } from '../../lib/project.mjs';

const { ZooKeeperLockStore } = projectRequire('nest-holdfast/zookeeper');

export default () => [
  holdfast('holdfast-zookeeper', {
    features: ['zookeeper'],
    quick: true,
    open: (port) => ({ store: new ZooKeeperLockStore(`127.0.0.1:${port}`) }),
  }),
];
