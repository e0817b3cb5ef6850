const { chmodSync, mkdtempSync, readdirSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { removeSegment } = require('../leaks/shared-memory.cjs');

const NAME = 'holdfast-run-';

/**
 * All temporary folders of a run are in one, which goes at its end: Jest kills workers that use too much memory, and those cannot remove
 * the data of their servers. The cache of Jest stays where it was.
 */
module.exports = function makeRunFolder() {
  if (path.basename(tmpdir()).startsWith(NAME)) return; // of this process, or of the run that has started it
  const folder = mkdtempSync(path.join(tmpdir(), NAME));
  chmodSync(folder, 0o711); // some servers run by accounts of their own
  process.env.TMPDIR = folder;
  process.once('exit', () => {
    for (const each of readdirSync(folder)) removeSegment(path.join(folder, each));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
};
