import { hostname } from 'node:os';

/** `host:pid:startTime` of this process, the time in milliseconds since 1970. For people who inspect. */
export const thisHolder = `${hostname()}:${process.pid}:${Math.round(performance.timeOrigin)}`;
