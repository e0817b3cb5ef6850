import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Injectable, Scope } from '@nestjs/common';
import {
  Args,
  Field,
  GraphQLModule,
  ID,
  Mutation,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  Resolver,
} from '@nestjs/graphql';
import { DistributedLock, LockService } from 'nest-holdfast';
import type { TestAppOptions } from '../../support/test-app.js';
import { openTransport, type TransportApp } from './transport-app.js';

const AT_ONCE = { waitTimeout: 0 };
const PATIENT = { waitTimeout: Infinity };

@ObjectType()
export class Order {
  @Field(() => ID)
  id!: string;
}

@Injectable()
class Stock {
  @DistributedLock('stock:<id>', AT_ONCE)
  async reserve(id: string): Promise<string> {
    return id;
  }
}

@Resolver(() => Order)
export class Orders {
  readonly ran: string[] = [];

  constructor(
    private readonly locks: LockService,
    private readonly stock: Stock,
  ) {}

  @DistributedLock('order:<request.args.id>', AT_ONCE)
  @Query(() => Order)
  async above(@Args('id', { type: () => ID }) id: string): Promise<Order> {
    return this.#order(id);
  }

  @Query(() => Order)
  @DistributedLock('order:<id>', AT_ONCE)
  async below(@Args('id', { type: () => ID }) id: string): Promise<Order> {
    return this.#order(id);
  }

  @DistributedLock('order:<id>', AT_ONCE)
  @Mutation(() => Order)
  async payAbove(@Args('id', { type: () => ID }) id: string): Promise<Order> {
    return this.#order(id);
  }

  @Mutation(() => Order)
  @DistributedLock('order:<request.args.id>', AT_ONCE)
  async payBelow(@Args('id', { type: () => ID }) id: string): Promise<Order> {
    return this.#order(id);
  }

  @Mutation(() => Order)
  @DistributedLock('order:<request.args.id>', { ...AT_ONCE, before: 'pipes' })
  async payBefore(@Args('id', { type: () => ID }) id: string): Promise<Order> {
    return this.#order(id);
  }

  @Query(() => Order)
  @DistributedLock('tenant:<request.headers.x-tenant>', AT_ONCE)
  async ofTenant(): Promise<Order> {
    return this.#order('7');
  }

  @Mutation(() => ID)
  @DistributedLock('order:<id>', PATIENT)
  async payInTime(@Args('id', { type: () => ID }) id: string): Promise<string> {
    return this.#order(id).id;
  }

  @Query(() => [Order])
  async unlocked(@Args('count', { defaultValue: 2 }) count: number): Promise<Order[]> {
    return Array.from({ length: count }, (_, index) => ({ id: String(7 + index) }));
  }

  @Query(() => ID)
  async throughService(@Args('id', { type: () => ID }) id: string): Promise<string> {
    return this.stock.reserve(id);
  }

  @DistributedLock('price:<order.id>', AT_ONCE)
  @ResolveField(() => String)
  async priceAbove(@Parent() order: Order): Promise<string> {
    return this.#price(order);
  }

  @ResolveField(() => String, { nullable: true })
  @DistributedLock('price:<order.id>', AT_ONCE)
  async priceBelow(@Parent() order: Order): Promise<string> {
    return this.#price(order);
  }

  @ResolveField(() => String, { nullable: true })
  @DistributedLock('price:<order.id>', PATIENT)
  async priceInTime(@Parent() order: Order): Promise<string> {
    return this.#price(order);
  }

  @ResolveField(() => String, { nullable: true })
  @DistributedLock('field:<request.headers.x-tenant>', AT_ONCE)
  async ofRequest(): Promise<string | undefined> {
    return this.locks.current()?.key;
  }

  #order(id: string): Order {
    this.ran.push(`${id} under ${this.locks.current()?.key}`);
    return { id };
  }

  #price({ id }: Order): string {
    return `of ${id} under ${this.locks.current()?.key}`;
  }
}

@Injectable({ scope: Scope.REQUEST })
@Resolver()
class PerRequest {
  constructor(private readonly locks: LockService) {}

  @DistributedLock('scoped:<request.args.id>', AT_ONCE)
  @Query(() => String)
  async scoped(@Args('id') _id: string): Promise<string | undefined> {
    return this.locks.current()?.key;
  }
}

/** The resolvers that `openGraphql` provides by itself. */
export const RESOLVERS = [Orders, PerRequest, Stock];

/** An application with `Orders` behind `POST /graphql`. */
export async function openGraphql(
  graphql: Partial<ApolloDriverConfig> = {},
  options: TestAppOptions = {},
): Promise<TransportApp> {
  const module = GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    autoSchemaFile: true,
    graphiql: false,
    csrfPrevention: false, // plain GET requests, as the clients that go away send them
    ...graphql,
  });
  return openTransport({ providers: RESOLVERS, ...options, imports: [module] });
}

/** Sends one operation. */
export const ask = (transport: TransportApp, query: string) =>
  transport.http.post('/graphql').set('x-tenant', 'acme').send({ query });
