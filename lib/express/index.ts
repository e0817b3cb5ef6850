export { lockRequest } from './lock-request.js';
export type { ExpressRequest, ExpressResponse, LockRequestOptions } from './lock-request.js';
