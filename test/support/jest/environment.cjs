const { TestEnvironment } = require('jest-environment-node');
const { disableAsyncStorages } = require('./async-storages.cjs');

/** Gives every spec the servers of its worker: they are of this module, which lives as long as the worker. */
module.exports = class extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    // V8's coverage counts by the place in the code as it is.
    // oxlint-disable-next-line import/no-unassigned-import -- it makes the loading of modules faster
    if (!config.globalConfig.collectCoverage) require('./compiled-modules.cjs');
    this.global.serversOfWorker = (kind) => {
      // oxlint-disable-next-line import/no-unassigned-import -- it lets this process require TypeScript
      require('./register-typescript.cjs');
      return require('../processes/servers-of-worker.ts').serverOfWorker(kind);
    };
  }

  async teardown() {
    await super.teardown();
    disableAsyncStorages();
  }
};
