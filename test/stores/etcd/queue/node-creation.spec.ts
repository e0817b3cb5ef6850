import { EtcdKeys } from '../../../../lib/stores/etcd/keys/etcd-keys.js';
import type { EtcdMembers } from '../../../../lib/stores/etcd/client/etcd-members.js';
import type { EtcdSessions } from '../../../../lib/stores/etcd/session/etcd-sessions.js';
import { NodeCreation } from '../../../../lib/stores/etcd/queue/node-creation.js';
import { requestFor } from '../client/requests.js';

type Answer = 'again' | 'lost' | 'created';

/** The result of a creation whose transactions get these answers. */
async function create(...answers: Answer[]): Promise<string> {
  const header = { revision: '7' };
  const members = {
    once: async () => {
      const answer = answers.shift();
      if (answer === 'lost') throw new Error('the connection was lost');
      return { header, succeeded: answer === 'created', responses: [] };
    },
    insist: async () => ({ header, succeeded: true, responses: [] }),
    isInTime: (work: Promise<unknown>) => work.then(() => true),
  };
  const session = { id: '1', epoch: '0', learnEpoch: () => {} };
  const creation = new NodeCreation(
    members as unknown as EtcdMembers,
    { current: async () => session } as unknown as EtcdSessions,
    new EtcdKeys('holdfast/'),
  );
  return creation.create(requestFor('key'), [], {
    transaction: () => ({ compare: [], success: [], failure: [] }),
    created: () => 'created',
    refused: () => 'again',
  });
}

describe('The creation of nodes at etcd', () => {
  it('goes on however often another caller came between, and twice after an answer was lost', async () => {
    const often: Answer[] = Array.from({ length: 10 }, () => 'again');
    await expect(create(...often, 'lost', ...often, 'lost', 'created')).resolves.toBe('created');
  });

  it('fails when three answers were lost', async () => {
    await expect(create('lost', 'again', 'lost', 'lost', 'created')).rejects.toThrow(
      'the connection was lost',
    );
  });
});
