import { fuzzKeys } from '../support/key-fuzz';

const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 32);
const PAIRS = 1_000_000;
const SLICES = 20;

describe(`a million pairs of lists of values never give one key (seed ${SEED})`, () => {
  it.each(Array.from({ length: SLICES }, (_, slice) => slice + 1))('slice %i', (slice) => {
    const { confusable, byHand } = fuzzKeys(PAIRS / SLICES, SEED + slice);
    expect(confusable).toBeGreaterThan(1_000);
    expect(byHand).toBeGreaterThan(1_000);
  });
});
