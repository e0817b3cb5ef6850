import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const DEFAULT = join(tmpdir(), 'nest-holdfast-stock');

/**
 * `STOCK_DIR`, where it is set. Otherwise one directory for all processes whose locks are in Redis, and one of its own for
 * a process whose locks are in memory: they protect that process only.
 */
export function stockDirectory(): string {
  const { STOCK_DIR, REDIS_URL } = process.env;
  if (STOCK_DIR) return STOCK_DIR;
  return REDIS_URL ? DEFAULT : ownDirectory();
}

function ownDirectory(): string {
  const directory = mkdtempSync(`${DEFAULT}-`);
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
