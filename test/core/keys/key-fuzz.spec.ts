import { fuzzKeys } from '../support/key-fuzz';

const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 32);

it(`two lists of values never give one key, by a template or lockKey (seed ${SEED})`, () => {
  const { confusable, byHand } = fuzzKeys(20_000, SEED);
  expect(confusable).toBeGreaterThan(300); // joined by hand, they would be one key
  expect(byHand).toBeGreaterThan(300);
});
