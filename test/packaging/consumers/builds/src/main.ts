import 'reflect-metadata';
import { Injectable, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DistributedLock, DistributedLockModule, LockKey, LockService } from 'nest-holdfast';

interface Order {
  readonly id: string;
}

/** Classes that lock the order of their second parameter, each in another way. Made when they are asked for: some are refused. */
const ways: Record<string, () => Type<{ pay(tenant: string, order: Order): Promise<string> }>> = {
  named: () => {
    @Injectable()
    class Orders {
      @DistributedLock('order:<order.id>')
      async pay(tenant: string, order: Order) {
        return tenant + order.id;
      }
    }
    return Orders;
  },
  position: () => {
    @Injectable()
    class Orders {
      @DistributedLock('order:<1.id>')
      async pay(tenant: string, order: Order) {
        return tenant + order.id;
      }
    }
    return Orders;
  },
  marked: () => {
    @Injectable()
    class Orders {
      @DistributedLock('order:<order.id>')
      async pay(tenant: string, @LockKey('order') order: Order) {
        return tenant + order.id;
      }
    }
    return Orders;
  },
  function: () => {
    @Injectable()
    class Orders {
      @DistributedLock((_tenant: string, order: Order) => `order:${order.id}`)
      async pay(tenant: string, order: Order) {
        return tenant + order.id;
      }
    }
    return Orders;
  },
  short: () => {
    @Injectable()
    class Orders {
      @DistributedLock('order:<e.id>')
      async pay(t: string, e: Order) {
        return t + e.id;
      }
    }
    return Orders;
  },
  request: () => {
    @Injectable()
    class Orders {
      @DistributedLock('order:<request.id>')
      async pay(tenant: string, request: Order) {
        return tenant + request.id;
      }
    }
    return Orders;
  },
};

/** The key that a class locks, or why it is refused. */
async function keyOf(define: () => Type<{ pay(tenant: string, order: Order): Promise<string> }>) {
  try {
    const Orders = define();
    class AppModule {}
    Module({ imports: [DistributedLockModule.forRoot({})], providers: [Orders] })(AppModule);
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    const keys: string[] = [];
    app.get(LockService).events.on('held', ({ key }) => keys.push(key));
    await app.get(Orders).pay('tenant', { id: '42' });
    await app.close();
    return keys.join();
  } catch (error) {
    return (error as Error).message;
  }
}

async function main() {
  const seen: Record<string, string> = {};
  for (const [way, define] of Object.entries(ways)) seen[way] = await keyOf(define);
  console.log(JSON.stringify(seen));
}
void main();
