import { clusterSlot, slotTag } from '../../lib/redis-client/cluster-slot.js';

describe('The tag that puts another key into the slot of a key', () => {
  it.each([
    ['order:42', 'order:42'],
    ['{order}:42', 'order'],
    ['a{order}{42}', 'order'],
    ['a{b', 'a{b'],
  ])('of %s is its own one', (key, tag) => {
    expect(slotTag(key)).toBe(tag);
  });

  it('is the smallest number of the slot where its own one has a closing brace', () => {
    const keys = Array.from({ length: 20 }, (_, index) => `order}${index}`);
    const tags = keys.map((key) => {
      let number = 0;
      while (clusterSlot(String(number)) !== clusterSlot(key)) number += 1;
      return String(number);
    });
    expect(keys.map(slotTag)).toEqual(tags);
    expect(keys.map(slotTag)).toEqual(tags); // the same ones after other searches
  });
});
