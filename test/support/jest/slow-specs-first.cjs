const path = require('node:path');
const { default: TestSequencer } = require('@jest/test-sequencer');
const slowSpecs = require('./slow-specs.json');

/** Starts the specs that take longest first, so that no worker is left alone with one of them at the end. */
module.exports = class SlowSpecsFirst extends TestSequencer {
  sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of Jest's, which returns a list of its own
    return super.sort(tests).toSorted((a, b) => secondsOf(b) - secondsOf(a));
  }
};

/** What the last run took; on a new checkout, what it takes elsewhere. */
function secondsOf({ path: file, duration, context }) {
  if (duration !== undefined) return duration / 1_000;
  return slowSpecs[path.relative(context.config.rootDir, file).replaceAll(path.sep, '/')] ?? 0;
}
