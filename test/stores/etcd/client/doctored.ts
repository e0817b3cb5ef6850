import type { EtcdClient } from '../../../../lib/stores/etcd/client/etcd-client.js';

type Opening = typeof import('../../../../lib/stores/etcd/client/open-client.js');

/** For `jest.mock`: that module, with clients that `doctor` has changed. */
export function openingDoctored(doctor: (client: EtcdClient) => void): Opening {
  const actual = jest.requireActual<Opening>('../../../../lib/stores/etcd/client/open-client.js');
  return {
    ...actual,
    openClient: async (...args) => {
      const client = await actual.openClient(...args);
      doctor(client);
      return client;
    },
  };
}
