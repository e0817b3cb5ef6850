import { withLabel } from '../../../lib/core/text/with-label.js';

describe('withLabel', () => {
  const failing = (error: Error) => () =>
    withLabel('@DistributedLock on Orders.pay', () => {
      throw error;
    });

  it('gives what the check gives', () => {
    expect(withLabel('orders', () => 5)).toBe(5);
  });

  it.each([TypeError, RangeError])(
    'puts the label in front of a %p, and keeps its code',
    (Kind) => {
      const refused = Object.assign(new Kind('ttl is wrong'), { code: 'LOCK_OPTIONS' });
      const expected = {
        message: '@DistributedLock on Orders.pay: ttl is wrong',
        code: 'LOCK_OPTIONS',
      };
      expect(failing(refused)).toThrow(expect.objectContaining(expected));
      expect(failing(refused)).toThrow(Kind);
    },
  );

  it('leaves every other error as it is', () => {
    const error = new Error('ttl is wrong');
    expect(failing(error)).toThrow(error);
    expect(error.message).toBe('ttl is wrong');
  });
});
