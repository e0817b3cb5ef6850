export type { ExpressRequest, ExpressResponse } from './express-types.js';
export { lockRequest } from './lock-request.js';
export type { LockRequestOptions } from './lock-request-options.js';
