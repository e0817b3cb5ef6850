// What TypeScript makes of a service with decorators, so that the benchmark needs no compiler.
/** `projectRequire` is where Nest and the project come from. */
module.exports = function makeOrdersService(projectRequire) {
  projectRequire('reflect-metadata');
  const { Injectable } = projectRequire('@nestjs/common');
  const { DistributedLock } = projectRequire('nest-holdfast');

  class OrdersService {
    async pay(_id) {}
  }

  const { prototype } = OrdersService;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, 'pay');
  DistributedLock('<0>')(prototype, 'pay', descriptor);
  Object.defineProperty(prototype, 'pay', descriptor);
  Injectable()(OrdersService);
  return OrdersService;
};
