const { spawnSync } = require('node:child_process');
const { existsSync, readFileSync } = require('node:fs');
const path = require('node:path');

/**
 * Removes the segment by which a PostgreSQL knows that no other one uses its data, in `folder`: a server that is killed leaves it to
 * the system.
 */
exports.removeSegment = function removeSegment(folder) {
  const file = path.join(folder, 'data/postmaster.pid');
  if (!existsSync(file)) return;
  const segment = readFileSync(file, 'utf8').split('\n')[6]?.trim().split(/\s+/)[1];
  if (segment !== undefined) spawnSync('ipcrm', ['-m', segment]);
};
