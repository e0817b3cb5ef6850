import { appendFile, open } from 'node:fs/promises';

/** More than the lines that can have been written since the last valid one. */
const TAIL_BYTES = 8_192;

interface Entry {
  readonly token: bigint;
  /** Missing in a claim, by which a holder announces its token before it reads. */
  readonly value: number | undefined;
}

/**
 * A file of numbered entries that is fenced: an entry whose token is smaller than one before it is void. Holders claim the
 * ledger first, so that an entry that a stale holder adds behind their back is void as well.
 */
export class Ledger {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Reads the last value, and adds the next. */
  async count(token: bigint): Promise<void> {
    await appendFile(this.#file, `${token} claim\n`);
    const last = validEntries(await this.#tail()).findLast(({ value }) => value !== undefined);
    await appendFile(this.#file, `${token} ${(last?.value ?? 0) + 1}\n`);
  }

  /** The values of all valid entries, in order. */
  async values(): Promise<number[]> {
    return validEntries(await this.#read()).flatMap(({ value }) => value ?? []);
  }

  async #tail(): Promise<string> {
    await using file = await open(this.#file);
    const { size } = await file.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, start);
    const text = buffer.toString('utf8', 0, bytesRead);
    return start === 0 ? text : text.slice(text.indexOf('\n') + 1);
  }

  async #read(): Promise<string> {
    await using file = await open(this.#file);
    return file.readFile('utf8');
  }
}

function validEntries(text: string): Entry[] {
  let largest = 0n;
  return text
    .split('\n')
    .slice(0, -1)
    .map(parse)
    .filter(({ token }) => {
      const isValid = token >= largest;
      if (isValid) largest = token;
      return isValid;
    });
}

function parse(line: string): Entry {
  const [token, value] = line.split(' ');
  return { token: BigInt(token!), value: value === 'claim' ? undefined : Number(value) };
}
