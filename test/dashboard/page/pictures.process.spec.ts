import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Snapshot } from '../../../lib/dashboard/api.js';
import { until } from '../../support/until.js';
import { says } from './support/opened-page.js';
import { busySnapshot, snapshotOf } from './support/sample-snapshots.js';
import { useFixturePage } from './support/use-fixture-page.js';

const IMAGES = join(__dirname, '..', '..', '..', 'docs', 'images');
/** `HOLDFAST_WRITE_PICTURES=1` writes them anew. */
const WRITES = Boolean(process.env['HOLDFAST_WRITE_PICTURES']);
const LARGEST = 200_000;

const DESK = { viewport: { width: 1200, height: 780 } };
const PHONE = { viewport: { width: 390, height: 780 } };
const BUSY = busySnapshot({
  actions: ['release'],
  nodes: [
    { name: 'redis-a:6379', state: 'up' },
    { name: 'redis-b:6379', state: 'suspended' },
    { name: 'redis-c:6379', state: 'up' },
  ],
  store: 'redlock',
});
const LIGHT = busySnapshot({ actions: ['release'] });

interface Picture {
  readonly name: string;
  readonly snapshot: Snapshot;
  readonly options: BrowserContextOptions;
  readonly says: string;
  readonly hash?: string;
}

const PICTURES: readonly Picture[] = [
  { name: 'page-light', snapshot: LIGHT, options: DESK, says: 'stock:SKU' },
  {
    name: 'page-dark',
    snapshot: LIGHT,
    options: { ...DESK, colorScheme: 'dark' },
    says: 'stock:SKU',
  },
  { name: 'page-busy', snapshot: BUSY, options: DESK, says: 'Nodes: 2 of 3 up' },
  {
    name: 'page-empty',
    snapshot: snapshotOf(),
    options: { viewport: { width: 1200, height: 500 } },
    says: 'No lock is held.',
  },
  {
    name: 'page-lock',
    snapshot: { ...LIGHT, detail: LIGHT.locks[0] },
    options: { viewport: { width: 1200, height: 540 } },
    says: '14 waiters, in order',
    hash: '#key=stock%3ASKU-20417',
  },
  { name: 'page-phone', snapshot: LIGHT, options: PHONE, says: 'stock:SKU' },
];

describe('the pictures of the page in docs/observability.md', () => {
  const { server, browser } = useFixturePage();

  it.each(PICTURES)('$name', async ({ name, snapshot, options, says: words, hash = '' }) => {
    server.show(snapshot);
    const context = await browser().newContext({ ...options, timezoneId: 'UTC' });
    const page = await context.newPage();
    await page.clock.setFixedTime(snapshot.at);
    await page.goto(server.url + hash);
    await says(page, words);
    if (snapshot.charts.series.length > 0 && hash === '')
      await until(async () => (await page.locator('.u-over').count()) === 3);
    const picture = await page.screenshot({ animations: 'disabled' });
    expect(picture.byteLength).toBeLessThan(LARGEST);
    expect(await coloursOf(page, picture)).toBeGreaterThan(50);
    if (WRITES) await write(name, picture);
    await context.close();
  });
});

/** The number of different colours: a blank picture has one. */
async function coloursOf(page: Page, picture: Buffer): Promise<number> {
  return page.evaluate(
    async (url) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d')!;
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      return new Set(new Uint32Array(data.buffer)).size;
    },
    `data:image/png;base64,${picture.toString('base64')}`,
  );
}

async function write(name: string, picture: Buffer): Promise<void> {
  await mkdir(IMAGES, { recursive: true });
  await writeFile(join(IMAGES, `${name}.png`), picture);
}
