import { fuzzKeyTemplates } from './fuzz-key-templates.js';

const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 31);

it(`any template and any values give a key of their own, or a documented error (seed ${SEED})`, () => {
  expect(fuzzKeyTemplates(20_000, SEED)).toEqual([]);
});
