// The same for gRPC, which is HTTP/2: Node hands the socket over to it, so that its messages can only be counted in its streams.
// Importing this is enough.
import http2 from 'node:http2';
import { grpcCounter } from './protocols.mjs';
import { wire } from './wire.mjs';

const COUNTER = Symbol('message-counter');
const { connect } = http2;
let isWatching = false;

http2.connect = (...args) => {
  const session = connect(...args);
  const { request } = session;
  session.request = (...call) => {
    const stream = request.apply(session, call);
    if (!isWatching) watch(prototypeWith('_write', stream));
    isWatching = true;
    return stream;
  };
  return session;
};

function prototypeWith(method, object) {
  const prototype = Object.getPrototypeOf(object);
  return Object.hasOwn(prototype, method) ? prototype : prototypeWith(method, prototype);
}

function watch(prototype) {
  const { _write, _writev } = prototype;
  prototype._write = function (chunk, ...rest) {
    count(this, [{ chunk }]);
    return _write.call(this, chunk, ...rest);
  };
  prototype._writev = function (chunks, ...rest) {
    count(this, chunks);
    return _writev.call(this, chunks, ...rest);
  };
}

function count(stream, chunks) {
  const counter = (stream[COUNTER] ??= grpcCounter());
  wire.writes++;
  for (const { chunk } of chunks) {
    wire.bytes += chunk.length;
    wire.commands += counter.read(chunk);
  }
}
