/** `nest-holdfast/core`. */
export * from './without-nest.js';
