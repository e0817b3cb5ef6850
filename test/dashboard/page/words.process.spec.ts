import type { Snapshot } from '../../../lib/dashboard/api.js';
import { until } from '../../support/until.js';
import { says, scrollsSideways } from './support/opened-page.js';
import { busySnapshot, lineOf, rowOf, snapshotOf } from './support/sample-snapshots.js';
import { useFixturePage } from './support/use-fixture-page.js';

const LONG = `order:${'0123456789'.repeat(30)}`;
const PHONE = { viewport: { width: 390, height: 844 } };

describe('the page', () => {
  const { server, open } = useFixturePage();

  const SENTENCES: readonly (readonly [string, Partial<Snapshot>, string])[] = [
    ['no lock', {}, 'No lock is held.'],
    [
      'a store that cannot list',
      { canList: false },
      'This store cannot list its locks. Shown are those of this process, shop-1, pid 4121.',
    ],
    [
      'a store that fails',
      { failure: 'connect ECONNREFUSED' },
      'The store was not read: connect ECONNREFUSED.',
    ],
    [
      'a store that fails in the middle',
      { failure: 'cut off', locks: [rowOf({ key: 'a' })] },
      'Not all of the store was read: cut off. Shown are what was read and the locks of this process',
    ],
    ['a store that takes its time', { isComplete: false, isReading: true }, 'Asking the store for its locks'], // prettier-ignore
    ['an incomplete list', { isComplete: false }, 'The list is incomplete'],
    [
      'a long list',
      { total: 10_000, locks: [rowOf({ key: 'a' })] },
      'Shown: the 1 most urgent of 10,000.',
    ],
    [
      'the nodes of a Redlock',
      {
        nodes: [
          { name: 'a:6379', state: 'up' },
          { name: 'b:6379', state: 'suspended' },
        ],
      },
      'Nodes: 1 of 2 up',
    ],
  ];
  it.each(SENTENCES)('tells of %s', async (_, part, words) => {
    server.show(snapshotOf(part));
    await using opened = await open();
    await says(opened.page, words);
  });

  const UNKNOWN: readonly (readonly [string, Partial<Snapshot>, string])[] = [
    ['a free lock', { detail: null }, 'Nobody holds this lock.'],
    ['a store that fails', { failure: 'cut off' }, 'The store was not read: cut off. This process does not hold this lock.'], // prettier-ignore
    ['a store that cannot inspect', { canList: false }, 'This store cannot tell who holds a lock.'],
    ['a store that takes its time', { isReading: true }, 'Asking the store for this lock'],
  ];
  it.each(UNKNOWN)('tells on the page of a lock of %s', async (_, part, words) => {
    server.show(snapshotOf(part));
    await using opened = await open('#key=a');
    await says(opened.page, words);
  });

  it('tells that a filter lets nothing through', async () => {
    server.show(snapshotOf());
    await using opened = await open('#search=nothing');
    await says(opened.page, 'No held lock matches the filter.');
  });

  it.each(['', '#key=a'])('fits on a phone, without scrolling sideways: %j', async (hash) => {
    const key = LONG;
    const nodes = [{ name: `${LONG}:6379`, state: 'up' }];
    const rows = [
      rowOf({ key, name: LONG, waiters: lineOf(100), waiterCount: 1_000, holders: [{ text: LONG }] }), // prettier-ignore
    ];
    const locks = [...rows, ...busySnapshot().locks];
    server.show({
      ...busySnapshot({ locks, nodes, failure: LONG, actions: ['release'] }),
      detail: locks[0]!,
    });
    await using opened = await open(hash, PHONE);
    const { page } = opened;
    await says(page, '1,000');
    expect(await scrollsSideways(page)).toBe(false);
    if (hash) {
      await page.getByRole('button', { name: 'Release this lock' }).click();
      await page.getByText('To confirm').waitFor();
      expect(await scrollsSideways(page)).toBe(false);
    }
  });

  it.each(['light', 'dark'] as const)(
    'is %s where the person prefers that',
    async (colorScheme) => {
      server.show(busySnapshot());
      await using opened = await open('', { colorScheme });
      const { page } = opened;
      await page.locator('.u-over').first().waitFor();
      const brightness = await page.evaluate(() => {
        const { backgroundColor } = getComputedStyle(document.documentElement);
        return Math.max(...backgroundColor.match(/\d+/g)!.map(Number));
      });
      if (colorScheme === 'dark') expect(brightness).toBeLessThan(60);
      else expect(brightness).toBeGreaterThan(200);
    },
  );

  it('draws the calls of each name, says them in words, and shows one alone when it is chosen', async () => {
    server.show(busySnapshot());
    await using opened = await open();
    const { page } = opened;
    const charts = page.getByRole('img');
    await until(async () => (await charts.count()) === 3);
    expect(await charts.first().getAttribute('aria-label')).toMatch(
      /^Grants a second\. invoice:<id>: last [\d.]+\/s, at most [\d.]+\/s; order:<id>: /,
    );
    const colours = () =>
      page.evaluate(() => {
        const canvas = document.querySelector('canvas')!;
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
      });
    await until(async () => (await colours()) > 20, { what: 'the chart is drawn' });
    await page.getByRole('button', { name: 'stock:<sku>' }).click();
    await until(async () => !(await charts.first().getAttribute('aria-label'))!.includes('order'));
    expect(new URL(page.url()).hash).toBe('#name=stock%3A%3Csku%3E');
  });

  it('does not move what stands beside a row when rows come and go', async () => {
    server.show(snapshotOf({ locks: [rowOf({ key: 'a' })] }));
    await using opened = await open();
    const { page } = opened;
    const box = async () => page.locator('a[data-key=a]').boundingBox();
    await says(page, 'shop-1');
    const before = await box();
    const long = rowOf({ key: LONG, name: LONG, waiters: lineOf(9), waiterCount: 9, heldFor: 9e8 });
    server.show(snapshotOf({ locks: [rowOf({ key: 'a', heldFor: 5e8 }), long] }));
    await says(page, 'order:');
    expect(await box()).toEqual(before);
  });
});
