// What TypeScript makes of a service with decorators, so that the benchmark needs no compiler.
require('reflect-metadata');
const { Injectable } = require('@nestjs/common');
const { DistributedLock } = require('nest-holdfast');

class OrdersService {
  async pay(_id) {}
}

const { prototype } = OrdersService;
const descriptor = Object.getOwnPropertyDescriptor(prototype, 'pay');
DistributedLock('<0>')(prototype, 'pay', descriptor);
Object.defineProperty(prototype, 'pay', descriptor);
Injectable()(OrdersService);

module.exports = { OrdersService };
