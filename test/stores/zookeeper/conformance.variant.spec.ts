import { ZooKeeperEnsemble } from '../../support/servers/zookeeper-server.js';
import { conformance } from './conformance-suite.js';

describe('ZooKeeperLockStore on an ensemble of three', () => {
  conformance(() => ZooKeeperEnsemble.start(3));
});
