import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildProcess } from '../support/processes/child-process.js';
import type { StoreReport } from './soak-report.js';
import { SOAK_SERVERS } from './soak-servers.js';

/** Of all stores: far fewer than there are. */
const FEWEST_GRANTS = 50;
const LONGEST = 600_000;

it(
  'npm run soak, for a moment: every store works under faults, and nothing is left or held twice',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-soak-spec-'));
    const out = join(directory, 'report.json');
    try {
      const args = ['--hours', '0.005', '--processes', '2', '--out', out];
      await using soak = new ChildProcess('test/soak/soak.ts', { args });
      const { code } = await soak.exited;
      const { stores } = JSON.parse(await readFile(out, 'utf8')) as { stores: StoreReport[] };
      console.log(soak.output);
      const found = stores.map(({ store, violations, leftovers, leaks }) => {
        return { store, violations, leftovers, leaks };
      });
      expect(found.toSorted((a, b) => a.store.localeCompare(b.store))).toEqual(
        Object.keys(SOAK_SERVERS)
          .toSorted()
          .map((store) => ({ store, violations: [], leftovers: [], leaks: [] })),
      );
      expect(stores.filter(({ grants }) => grants === 0)).toEqual([]);
      expect(stores.reduce((sum, { grants }) => sum + grants, 0)).toBeGreaterThan(FEWEST_GRANTS);
      expect(stores.some(({ faults }) => Object.keys(faults).length > 0)).toBe(true);
      expect(code).toBe(0);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
  LONGEST,
);
