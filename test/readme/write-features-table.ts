// Writes the table of features into docs/stores.md: `npm run docs:features`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFeatures } from './features-table.js';
import { ROOT } from './support/markdown.js';

const file = join(ROOT, 'docs/stores.md');
writeFileSync(file, withFeatures(readFileSync(file, 'utf8')));
