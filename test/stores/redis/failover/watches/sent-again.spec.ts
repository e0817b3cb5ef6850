import { SentAgain, type WatchedWay } from '../../../../../lib/stores/redis/failover/sent-again.js';
import { rejectionOf } from '../../../../core/support/outcome.js';

const UNKNOWN = { message: expect.stringContaining('it is unknown whether this freed the key') };

/** A connection as it is now, and the run of the server as it answers. */
interface Way extends WatchedWay {
  connected: { losses: unknown; runId?: string };
  link?: { losses: unknown; runId?: string };
}

function wayTo(server: string | undefined, runId?: string): Way {
  return {
    connected: { losses: 0, ...(runId !== undefined && { runId }) },
    readRunId: async () => server,
  };
}

describe('A release that found no lock', () => {
  const valid = () => true;

  it('found none, where its holder does not ask whether it was sent twice', async () => {
    const way = wayTo('a', 'a');
    const decide = new SentAgain(way).decision();
    way.connected = { losses: 1, runId: 'a' };
    expect([decide(false), decide(true)]).toEqual([false, true]);
  });

  it('found none, where the connection is the same as when it was sent', () => {
    const decide = new SentAgain(wayTo('a', 'a')).decision(valid);
    expect([decide(false), decide(true)]).toEqual([false, true]);
  });

  it('was made before, where the connection was lost, the server is the same and the ttl is not over', async () => {
    const way = wayTo('a', 'a');
    const decide = new SentAgain(way).decision(valid);
    way.connected = { losses: 1, runId: 'a' };
    expect(decide(true)).toBe(true);
    expect(await decide(false)).toBe(true);
  });

  it.each([
    ['the server is another one', 'b', 'a', valid],
    ['the server is unknown', undefined, undefined, valid],
    ['the server was unknown', 'a', undefined, valid],
    ['the ttl may be over', 'a', 'a', () => false],
  ])(
    'may have been made, where the connection was lost and %s',
    async (_, now, before, isValid) => {
      const way = wayTo(now, before);
      const decide = new SentAgain(way).decision(isValid);
      way.connected = { losses: 1 };
      expect(await rejectionOf(Promise.resolve(decide(false)))).toMatchObject(UNKNOWN);
    },
  );

  it('is compared with the link to the server, where there is one', async () => {
    const way = wayTo('a');
    way.link = { losses: 3, runId: 'a' };
    const decide = new SentAgain(way).decision(valid);
    way.connected = { losses: 3 };
    expect(decide(false)).toBe(false);
    way.connected = { losses: 4 };
    expect(await decide(false)).toBe(true);
  });

  it('is decided by its answer', async () => {
    const way = wayTo('a', 'a');
    const sentAgain = new SentAgain(way);
    const answer = sentAgain.decided(Promise.resolve(false), valid);
    way.connected = { losses: 1 };
    expect(await answer).toBe(true);
    expect(await sentAgain.decided(Promise.resolve(false))).toBe(false);
  });
});
