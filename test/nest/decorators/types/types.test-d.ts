// Compiled by `npm run typecheck`, never run: a line below that is wrongly accepted, or wrongly refused, is a compile error.
/* eslint-disable no-unused-vars, typescript/no-unused-expressions -- only the types matter */
import type { Readable } from 'node:stream';
import {
  CurrentLock,
  DistributedLock,
  DistributedLockModule,
  InjectLocks,
  type Lock,
  LockKey,
  LockService,
  type LockTimeoutError,
} from 'nest-holdfast';
import type { Observable, Subject } from 'rxjs';

interface Order {
  readonly id: string;
  readonly customer: { readonly id: number };
}

class Accepted {
  constructor(
    readonly locks: LockService,
    @InjectLocks('billing') readonly billing: LockService,
  ) {}

  @DistributedLock('order:<id>')
  async template(id: string) {}

  @DistributedLock('order:<o.id>', { ttl: 1_000, waitTimeout: Infinity, locks: 'billing' })
  async options(o: Order, n: number, x?: string, ...rest: string[]) {
    return 1;
  }

  @DistributedLock(['a:<a>', 'b:<b>'] as const)
  async list(a: string, b: string) {}

  @DistributedLock('doc:<id>', { mode: 'read', before: 'pipes', returns: 'promise' })
  async reader(id: string) {}

  @DistributedLock((o: Order) => o.id, { mode: 'write', onTimeout: 'skip', minHold: 1_000 })
  async writer(o: Order) {}

  @DistributedLock((o: Order) => `order:${o.id}`)
  async fewerParameters(o: Order, n: number) {}

  @DistributedLock((id: string) => [id, 'x'])
  async listFromFunction(id: string, optional?: number) {}

  @DistributedLock(() => 'fixed')
  async noParameters(a: number) {}

  @DistributedLock((id: string | number) => `order:${id}`)
  async widerParameters(id: string) {}

  @DistributedLock((id?: string) => id ?? 'none')
  async optionalParameter(id?: string) {}

  @DistributedLock((id: string, _n: number) => id)
  async *generator(id: string, n: number) {
    yield n;
  }

  @DistributedLock('x')
  observable(): Observable<number> {
    return undefined as never;
  }

  @DistributedLock('x')
  subject(): Subject<number> {
    return undefined as never;
  }

  @DistributedLock('x', { returns: 'iterable' })
  iterable(): AsyncIterable<number> {
    return undefined as never;
  }

  @DistributedLock('x')
  async promisedStream(): Promise<Readable> {
    return undefined as never;
  }

  @DistributedLock('x')
  async generic<T extends { id: string }>(o: T): Promise<T> {
    return o;
  }

  @DistributedLock((o: { id: string }) => o.id)
  async genericFunction<T extends { id: string }>(o: T): Promise<T> {
    return o;
  }

  @DistributedLock('x')
  private async hidden(id: string) {}

  @DistributedLock('x')
  protected async shielded(id: string) {}

  async overloaded(a: string): Promise<void>;
  async overloaded(a: number): Promise<void>;
  @DistributedLock((a: unknown) => String(a))
  async overloaded(a: unknown): Promise<void> {}

  @DistributedLock((id: string) => id)
  async anyArgument(id: any) {}

  @DistributedLock((...all: unknown[]) => String(all[0]))
  async restOfFunction(id: string) {}

  @DistributedLock('x:<name>')
  async marks(@LockKey('name') { id }: Order, @CurrentLock() lock?: Lock) {}

  @DistributedLock('x', { onTimeout: (error: LockTimeoutError, id: string) => error.key + id })
  async onTimeout(id: string) {}
}

class Refused {
  // @ts-expect-error the key function reads a number, the method takes a string
  @DistributedLock((id: number) => `o:${id}`)
  async wrongParameter(id: string) {}

  // @ts-expect-error the key function reads more parameters than the method has
  @DistributedLock((id: string, n: number) => id + n)
  async tooManyParameters(id: string) {}

  // @ts-expect-error a method that returns a value at once
  @DistributedLock('x')
  synchronous(id: string) {
    return id;
  }

  // @ts-expect-error a method that returns nothing
  @DistributedLock('x')
  nothing(id: string) {}

  // @ts-expect-error the key function does not return a string
  @DistributedLock((o: Order) => o.customer.id)
  async numberAsKey(o: Order) {}

  // @ts-expect-error the key function returns a promise
  @DistributedLock(async (id: string) => id)
  async promiseAsKey(id: string) {}

  // @ts-expect-error the parameter is not annotated, so it is `unknown`
  @DistributedLock((o) => o.id)
  async notAnnotated(o: Order) {}

  // @ts-expect-error a property
  @DistributedLock('x')
  property = async () => {};

  // @ts-expect-error an accessor
  @DistributedLock('x')
  get accessor() {
    return Promise.resolve(1);
  }

  // @ts-expect-error there is no such property
  @DistributedLock((o: Order) => o.idd)
  async misspelt(o: Order) {}

  // @ts-expect-error a generator that is not async
  @DistributedLock('x')
  *synchronousGenerator() {
    yield 1;
  }

  // @ts-expect-error a parameter is no method
  async parameter(@DistributedLock('x') id: string) {}

  // @ts-expect-error the parameter is optional, the key function requires it
  @DistributedLock((id: string) => id)
  async requiresOptional(id?: string) {}

  // @ts-expect-error a misspelt option
  @DistributedLock('x', { tll: 1_000 })
  async misspeltOption() {}

  // @ts-expect-error no such mode
  @DistributedLock('x', { mode: 'shared' })
  async unknownMode() {}

  // @ts-expect-error a misspelt option beside a key function
  @DistributedLock((id: string) => id, { tll: 1_000 })
  async misspeltBesideFunction(id: string) {}

  // @ts-expect-error a key is missing
  @DistributedLock()
  async noKey() {}

  // @ts-expect-error a promise, or not
  @DistributedLock('x')
  sometimes(isLater: boolean) {
    return isLater ? Promise.resolve(1) : 1;
  }

  // @ts-expect-error an unknown choice
  @DistributedLock('x', { onTimeout: 'ignore' })
  async unknownChoice() {}

  // @ts-expect-error a key is neither a number nor a list of numbers
  @DistributedLock([1, 2])
  async numbers() {}
}

// @ts-expect-error a class
@DistributedLock('x')
class NotAMethod {}

DistributedLockModule.forRoot({ redis: 'redis://localhost', ttl: 1, isGlobal: false, name: 'x' });
DistributedLockModule.forRoot({ redis: { host: 'localhost' }, http: { busyStatus: 423 } });
DistributedLockModule.forRootAsync({ useFactory: async () => ({ redis: '' }), name: 'x' });
// @ts-expect-error a misspelt option
DistributedLockModule.forRoot({ rediss: 'redis://localhost' });

const descriptor = Object.getOwnPropertyDescriptor(Accepted.prototype, 'template')!;
DistributedLock('x')(Accepted.prototype, 'template', descriptor); // one of unknown type

async function results(locks: LockService): Promise<void> {
  const result: number = await locks.withLock('k', async () => 1);
  const accepted = new Accepted(locks, locks);
  const kept: Promise<number> = accepted.options({ id: '', customer: { id: 1 } }, 1);
  // @ts-expect-error the decorator does not change what the method takes
  await accepted.template(1);
}
