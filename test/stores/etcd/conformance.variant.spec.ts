import { conformance } from './conformance-suite.js';

describe('EtcdLockStore on three members', () => {
  conformance(3);
});
