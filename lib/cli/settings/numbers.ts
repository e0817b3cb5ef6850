import { InvalidArgumentError } from 'commander';

/** A parser of whole numbers in a range, which throws `InvalidArgumentError`. */
export function parseWhole(from: number, to: number): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text.trim()) ? Number(text) : NaN;
    if (number >= from && number <= to) return number;
    throw new InvalidArgumentError(`Write a whole number from ${from} to ${to}.`);
  };
}

/** A fencing token. */
export function parseToken(text: string): bigint {
  const token = /^\d{1,19}$/.test(text.trim()) ? BigInt(text) : 0n;
  if (token >= 1n) return token;
  throw new InvalidArgumentError(
    'Write the number that "holdfast inspect <key>" shows as its token.',
  );
}
