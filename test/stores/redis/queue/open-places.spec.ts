import { OpenPlaces } from '../../../../lib/stores/redis/queue/open-places.js';
import type { Place } from '../../../../lib/stores/redis/queue/queue-place.js';

const place = (lock: string, value: string) => ({ keys: [lock], value }) as unknown as Place;

describe('The open places of a store', () => {
  let places: OpenPlaces;
  const [one, two, other] = [place('a', '1'), place('a', '2'), place('b', '3')] as const;

  beforeEach(() => {
    places = new OpenPlaces();
    for (const each of [one, two, other]) places.add(each);
  });

  it('are found by their values, by their locks and in their order', () => {
    expect([...places.all()]).toEqual([one, two, other]);
    expect([places.get('2'), places.get('4')]).toEqual([two, undefined]);
    expect([places.ofLock('a'), places.ofLock('c')]).toEqual([[one, two], []]);
    expect(places.find('a', () => true)).toBe(one);
    expect(places.find('a', ({ value }) => value === '2')).toBe(two);
    expect(places.find('a', () => false)).toBeUndefined();
    expect(places.find('c', () => true)).toBeUndefined();
  });

  it('are open until they are removed', () => {
    places.remove(one);
    expect([one, two].map((each) => places.has(each))).toEqual([false, true]);
    expect(places.ofLock('a')).toEqual([two]);
    places.remove(two);
    expect(places.ofLock('a')).toEqual([]);
    expect([...places.all()]).toEqual([other]);
    const next = place('a', '4');
    places.add(next);
    expect(places.ofLock('a')).toEqual([next]);
  });

  it('do not end with another one of the same value', () => {
    places.remove(place('a', '1'));
    expect(places.has(one)).toBe(true);
    expect(places.has(place('a', '1'))).toBe(false);
    places.remove(one);
    places.remove(one);
    expect(places.ofLock('a')).toEqual([two]);
  });
});
