/** Number of hash slots of a Redis Cluster. */
const SLOTS = 16_384;

/** The part of a key that decides its slot: the content of the first `{…}`, unless that is empty or not closed. */
export function hashTag(key: string): string {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  return open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
}

/** CRC16/XMODEM of the hash tag, modulo 16,384 (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/). */
export function clusterSlot(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(hashTag(key))) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}

/**
 * A tag that, in braces, puts another key into the slot of `key`. Usually the key's own tag; where that contains a closing
 * brace, which would end the braces too early, the smallest number that falls into the same slot.
 */
export function slotTag(key: string): string {
  const tag = hashTag(key);
  return tag.includes('}') ? numberInSlot(clusterSlot(key)) : tag;
}

/** The smallest number in each slot, as far as the search has come: one search takes milliseconds. */
const numbers = new Map<number, string>();
let nextNumber = 0;

function numberInSlot(slot: number): string {
  for (; !numbers.has(slot); nextNumber++) {
    const number = String(nextNumber);
    const itsSlot = clusterSlot(number);
    if (!numbers.has(itsSlot)) numbers.set(itsSlot, number);
  }
  return numbers.get(slot)!;
}
