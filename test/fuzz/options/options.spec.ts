import { fuzzOptions } from './fuzz-options.js';

const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 32);

it(`hostile options work, or are refused with a code and without a secret (seed ${SEED})`, async () => {
  expect(await fuzzOptions(2_000, SEED)).toEqual([]);
});
