// Writes the table of features into the README: `npm run docs:features`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFeatures } from './features-table.js';
import { ROOT } from './support/markdown.js';

const file = join(ROOT, 'README.md');
writeFileSync(file, withFeatures(readFileSync(file, 'utf8')));
