import { holdfast } from '../../lib/holdfast.mjs';
import { projectRequire } from '../../lib/project.mjs';

const { EtcdLockStore } = projectRequire('nest-holdfast/etcd');

export default () => [
  holdfast('holdfast-etcd', {
    features: ['etcd'],
    quick: true,
    open: (port) => ({ store: new EtcdLockStore({ hosts: `127.0.0.1:${port}` }) }),
  }),
];
