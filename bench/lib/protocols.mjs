// Counts the requests in what a client sends, by the frames of each protocol: one per round trip that the client waits for.

const NOTHING = Buffer.alloc(0);

/** `head`: bytes until the length of a frame is known. `lengthOf(head)`: of the whole frame. `isRequest(head)`: it counts. */
class FrameCounter {
  #dialect;
  #head = NOTHING;
  #toSkip = 0;

  constructor(dialect) {
    this.#dialect = dialect;
  }

  /** Takes the bytes as they come and returns how many requests began in them. */
  read(bytes) {
    let count = 0;
    for (let at = 0; at < bytes.length;) {
      if (this.#toSkip > 0) {
        const skipped = Math.min(this.#toSkip, bytes.length - at);
        this.#toSkip -= skipped;
        at += skipped;
        continue;
      }
      const { head, lengthOf, isRequest, next } = this.#dialect;
      const part = bytes.subarray(at, at + head - this.#head.length);
      this.#head = this.#head.length > 0 ? Buffer.concat([this.#head, part]) : part;
      at += part.length;
      if (this.#head.length < head) break;
      if (isRequest(this.#head)) count++;
      this.#toSkip = lengthOf(this.#head) - head;
      this.#head = NOTHING;
      this.#dialect = next ?? this.#dialect;
    }
    return count;
  }
}

/** A type, then a length without it. `Q` is a whole request, `S` (Sync) ends one of several messages. */
const POSTGRES = {
  head: 5,
  lengthOf: (head) => 1 + head.readInt32BE(1),
  isRequest: (head) => 'QS'.includes(String.fromCharCode(head[0])),
};
/** The first message has no type. */
const POSTGRES_START = {
  head: 4,
  lengthOf: (head) => head.readInt32BE(0),
  isRequest: () => false,
  next: POSTGRES,
};
/** A length without the head, a number that is 0 at the start of a command, and the command. Some are not answered. */
const UNANSWERED = new Set([0x01, 0x18, 0x19]); // quit, send long data, close statement
const MYSQL = {
  head: 5,
  lengthOf: (head) => 4 + head.readUIntLE(0, 3),
  isRequest: (head) => head[3] === 0 && !UNANSWERED.has(head[4]),
};
/** A length without itself. */
const ZOOKEEPER = {
  head: 4,
  lengthOf: (head) => 4 + head.readInt32BE(0),
  isRequest: () => true,
};
/** A flag and the length of what follows. */
const GRPC = {
  head: 5,
  lengthOf: (head) => 5 + head.readUInt32BE(1),
  isRequest: () => true,
};

export const postgresCounter = () => new FrameCounter(POSTGRES_START);
export const mysqlCounter = () => new FrameCounter(MYSQL);
export const zookeeperCounter = () => new FrameCounter(ZOOKEEPER);
export const grpcCounter = () => new FrameCounter(GRPC);
