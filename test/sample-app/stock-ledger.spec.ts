import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unitsAfter, validEntries } from '../../sample-app/stock/ledger-entry.js';
import { InvalidSkuError, StaleWriteError } from '../../sample-app/stock/stock-errors.js';
import { StockLedger } from '../../sample-app/stock/stock-ledger.js';

describe('validEntries', () => {
  it('leaves out an entry whose fencing token is smaller than one before it', () => {
    const entries = [
      { id: 'first', fence: '9', units: 5 },
      { id: 'second', fence: '10', units: 4 },
      { id: 'stale', fence: '9', units: 3 },
      { id: 'same holder', fence: '10', units: 2 },
    ];
    const ids = validEntries(entries).map(({ id }) => id);
    expect(ids).toEqual(['first', 'second', 'same holder']);
    expect(unitsAfter(entries)).toBe(2);
  });

  it('counts an entry without a token, which nothing protects', () => {
    const entries = [
      { id: 'locked', fence: '7', units: 5 },
      { id: 'unlocked', units: 1 },
    ];
    expect(unitsAfter(entries)).toBe(1);
  });

  it('takes an announcement for no change of the units', () => {
    const entries = [
      { id: 'write', fence: '7', units: 5 },
      { id: 'announcement', fence: '8' },
    ];
    expect(unitsAfter(entries)).toBe(5);
    expect(unitsAfter([])).toBe(0);
  });
});

describe('StockLedger', () => {
  let directory: string;
  let ledger: StockLedger;
  /** Stands for another process. */
  let other: StockLedger;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-ledger-'));
    ledger = new StockLedger(directory);
    other = new StockLedger(directory);
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('has no units of an article that was never written, and makes no file for it', async () => {
    expect(await ledger.read('lamp')).toBe(0);
    expect(await ledger.skus()).toEqual([]);
  });

  it('is shared by all that use the directory', async () => {
    await ledger.write('lamp', 5);
    expect(await other.read('lamp')).toBe(5);
    expect(await other.skus()).toEqual(['lamp']);
  });

  it('keeps every one of many writes at the same time', async () => {
    const ledgers = [ledger, other];
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => ledgers[index % 2]!.write('lamp', index, 1n)),
    );
    await expect(ledger.write('lamp', 7, 1n)).resolves.toBeUndefined();
    expect(await other.read('lamp')).toBe(7);
  });

  it('refuses the write of a stale holder', async () => {
    await ledger.write('lamp', 5, 1n);
    await other.write('lamp', 4, 2n);
    await expect(ledger.write('lamp', 3, 1n)).rejects.toThrow(StaleWriteError);
    expect(await ledger.read('lamp')).toBe(4);
  });

  it('refuses the write of a stale holder as soon as a newer one has read', async () => {
    await ledger.write('lamp', 5, 1n);
    expect(await other.read('lamp', 2n)).toBe(5);
    await expect(ledger.write('lamp', 3, 1n)).rejects.toThrow(StaleWriteError);
    await other.write('lamp', 4, 2n);
    expect(await ledger.read('lamp')).toBe(4);
  });

  it('tells a stale holder already when it reads', async () => {
    await other.write('lamp', 5, 2n);
    await expect(ledger.read('lamp', 1n)).rejects.toThrow(StaleWriteError);
  });

  it('compares tokens as numbers of any size', async () => {
    await ledger.write('lamp', 5, 9_007_199_254_740_993n);
    await expect(ledger.write('lamp', 4, 9_007_199_254_740_992n)).rejects.toThrow(StaleWriteError);
    await expect(ledger.write('lamp', 3, 10_000_000_000_000_000n)).resolves.toBeUndefined();
  });

  it('ignores a line that another process is still writing', async () => {
    await ledger.write('lamp', 5);
    await appendFile(join(directory, 'lamp.jsonl'), '{"id":"half","uni');
    expect(await ledger.read('lamp')).toBe(5);
  });

  it.each(['', '..', '../lamp', 'a/b', 'Lamp', 'lamp.', 'x'.repeat(65)])(
    'refuses the article %j, which is not safe as the name of a file',
    async (sku) => {
      await expect(ledger.write(sku, 1)).rejects.toThrow(InvalidSkuError);
      await expect(ledger.read(sku)).rejects.toThrow(InvalidSkuError);
    },
  );
});
