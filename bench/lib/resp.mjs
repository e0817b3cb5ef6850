/** Reads one reply at `start`: of RESP2, and what a subscriber gets by RESP3. `undefined` when it is not complete yet. */
export function readReply(buffer, start) {
  const lineEnd = buffer.indexOf('\r\n', start);
  if (lineEnd < 0) return undefined;
  const text = buffer.toString('latin1', start + 1, lineEnd);
  const end = lineEnd + 2;
  switch (String.fromCharCode(buffer[start])) {
    case '+':
      return { value: text, end };
    case '-':
      return { value: new Error(text), end };
    case ':':
      return { value: Number(text), end };
    case '$':
      return readBulk(buffer, end, Number(text));
    case '_':
      return { value: null, end };
    case '*':
    case '>':
      return readArray(buffer, end, Number(text));
    case '%':
      return readArray(buffer, end, 2 * Number(text));
    default:
      throw new Error(`unexpected reply: ${text}`);
  }
}

export function writeCommand(args) {
  const parts = args.map((arg) => `$${Buffer.byteLength(String(arg))}\r\n${arg}\r\n`);
  return `*${args.length}\r\n${parts.join('')}`;
}

function readBulk(buffer, start, length) {
  if (length < 0) return { value: null, end: start };
  const end = start + length + 2;
  if (buffer.length < end) return undefined;
  return { value: buffer.toString('utf8', start, end - 2), end };
}

function readArray(buffer, start, length) {
  const value = [];
  let end = start;
  for (let i = 0; i < length; i++) {
    const item = readReply(buffer, end);
    if (!item) return undefined;
    value.push(item.value);
    end = item.end;
  }
  return { value, end };
}
