import { systemClock } from '../../../../lib/core/async/clock.js';
import { idleTimer } from '../../../../lib/core/async/timer-queue.js';
import * as queue from '../../../../lib/stores/redis/queue/queue-place.js';
import { aRequest } from '../locks.js';

/** Milliseconds for the answer of the server, and of a failover of a Cluster. */
const HEARTBEAT = 2_000;
const FAILOVER = 30_000;
const ELECTION = new Error('Too many Cluster redirections. Last error: CLUSTERDOWN');

const at = (now: number) => void jest.spyOn(systemClock, 'now').mockReturnValue(now);

function placeOf(
  value: string,
  { ttl = 30_000, storeTimeout = undefined as number | undefined } = {},
) {
  const request = { ...aRequest('a', ttl), storeTimeout };
  const timer = idleTimer(() => {});
  const settle = { granted: () => {}, refused: () => {} };
  return queue.newPlace({ request, keys: ['lock:a'], value }, { row: 8, arrivedAt: 0, timer, ...settle }); // prettier-ignore
}

describe('A place in the queue', () => {
  let place: queue.Place;

  beforeEach(() => {
    at(0);
    place = placeOf('s.1');
  });

  afterEach(() => jest.restoreAllMocks());

  it('bears two failures, and a third that comes with an election of a Cluster, for half a minute', () => {
    const bears = (error: Error) => {
      queue.noteFailure(place, error);
      return queue.isBearable(place, error);
    };
    const down = new Error('down');
    expect([bears(down), bears(down), bears(down)]).toEqual([true, true, false]);
    at(FAILOVER - 1);
    expect(bears(ELECTION)).toBe(true);
    expect(queue.isBearable(place, 'Too many Cluster redirections')).toBe(false);
    at(FAILOVER);
    expect(bears(ELECTION)).toBe(false);
    queue.noteAnswer(place);
    expect([bears(ELECTION), bears(down)]).toEqual([true, true]);
  });

  it('knows its last failure until it is answered', () => {
    const error = new Error('down');
    place.isAsking = true;
    queue.noteFailure(place, error);
    expect(place).toMatchObject({ error, isAsking: false, failures: 1, hasStood: false });
    queue.noteAnswer(place);
    expect(place).toMatchObject({ error: undefined, failures: 0, hasStood: true });
  });

  it('is silent when an answer has been missing for half a second', () => {
    Object.assign(place, { isAsking: true, askedAt: 1_000 });
    at(1_499);
    expect(queue.whySilent(place)).toBeUndefined();
    at(1_500);
    expect(queue.whySilent(place)).toMatchObject({ message: 'no answer within 500 ms' });
    place.isAsking = false;
    expect(queue.whySilent(place)).toBeUndefined();
  });

  it('has as long for an answer as calls to the store, or as the server takes it for alive', () => {
    expect(queue.answerTime(place)).toBe(HEARTBEAT);
    expect(queue.answerTime(placeOf('s.1', { storeTimeout: 700 }))).toBe(700);
  });

  it('asks with its claim, its age and its row', () => {
    at(700.25);
    expect(queue.waitArgs([place])).toEqual([HEARTBEAT, 's.1', '1000 700.250 8']);
    at(5_000);
    const short = placeOf('s.2', { ttl: 400 });
    expect(queue.waitArgs([short])).toEqual([HEARTBEAT, 's.2', '400 1000.000 8']);
  });

  it('names the place that it is behind, where the server does not know it', () => {
    const [first, second] = [place, placeOf('s.2')];
    second.before = first;
    const words = (...places: queue.Place[]) => queue.waitArgs(places).at(-1);
    expect(words(second)).toBe('1000 0.000 8 1000 s.1');
    expect(words(first, second)).toBe('1000 0.000 8');
    expect(words(placeOf('s.3'), second)).toBe('1000 0.000 8 1000 s.1');
    second.hasStood = true;
    expect(words(second)).toBe('1000 0.000 8');
  });
});
