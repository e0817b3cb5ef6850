export type { LockErrorOptions } from '../http/error-options.js';
export type { ExpressRequest, ExpressResponse } from './express-types.js';
export { lockErrorHandler } from './lock-error-handler.js';
export { lockHandler } from './lock-handler.js';
export { lockRequest } from './lock-request.js';
export type { LockRequestOptions } from './lock-request-options.js';
