const { TestEnvironment } = require('jest-environment-node');

/** Gives every spec the servers of its worker: they are of this module, which lives as long as the worker. */
module.exports = class extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.global.serversOfWorker = (kind) => {
      // oxlint-disable-next-line import/no-unassigned-import -- it lets this process require TypeScript
      require('./register-typescript.cjs');
      return require('./servers-of-worker.ts').serverOfWorker(kind);
    };
  }
};
