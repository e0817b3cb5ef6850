// Stands for lib/dashboard/built-page.ts in Jest: the live page, bundled from its sources as the build does.
const { execFileSync } = require('node:child_process');
const path = require('node:path');

const PROGRAM = path.join(__dirname, '../../../lib/bundle-page.mjs');

exports.builtPage = JSON.parse(
  execFileSync(process.execPath, [PROGRAM], { encoding: 'utf8', maxBuffer: 16 * 1_024 ** 2 }),
);
