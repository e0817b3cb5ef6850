import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Args, GraphQLModule, Query, Resolver, Subscription } from '@nestjs/graphql';
import { DistributedLock } from 'nest-holdfast';
import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import { until } from '../../../support/until.js';
import { customIterable, Rows } from '../../support/streaming.js';
import { openTransport, type TransportApp } from '../support/transport-app.js';

const PATIENT = { waitTimeout: Infinity };

/** GraphQL takes the value of a field from the payload that has its name. */
async function* payloads(name: string, rows: AsyncIterable<string>) {
  for await (const row of rows) yield { [name]: row.trim() };
}

@Resolver()
class Feeds {
  constructor(readonly rows: Rows) {}

  @Query(() => [String])
  @DistributedLock('feed:query')
  async list() {
    return payloads('list', this.rows.read()) as never as string[];
  }

  @Subscription(() => String)
  @DistributedLock('feed:<id>', PATIENT)
  async *generator(@Args('id') id: string) {
    yield* payloads('generator', this.#rows(id));
  }

  @Subscription(() => String)
  @DistributedLock('feed:<id>', PATIENT)
  async promised(@Args('id') id: string) {
    return payloads('promised', this.#rows(id));
  }

  @Subscription(() => String)
  @DistributedLock('feed:<id>', PATIENT)
  returned(@Args('id') id: string) {
    return payloads('returned', this.#rows(id)) as never as Promise<unknown>;
  }

  @Subscription(() => String)
  @DistributedLock('feed:<id>', { ...PATIENT, returns: 'iterable' })
  told(@Args('id') id: string): AsyncIterable<unknown> {
    return payloads('told', this.#rows(id));
  }

  @Subscription(() => String, { filter: () => true })
  @DistributedLock('feed:<request.args.id>', PATIENT)
  async *filtered(@Args('id') id: string) {
    yield* payloads('filtered', this.#rows(id));
  }

  @Subscription(() => String)
  @DistributedLock('feed:<request.args.id>', { ...PATIENT, before: 'pipes' })
  async *before(@Args('id') id: string) {
    yield* payloads('before', this.#rows(id));
  }

  @Subscription(() => String)
  @DistributedLock('feed:<id>:<request.headers.x-tenant>', { waitTimeout: 0 })
  async *busy(@Args('id') id: string) {
    yield* payloads('busy', this.#rows(id));
  }

  @Subscription(() => String)
  @DistributedLock('feed:<id>', { waitTimeout: 0, onTimeout: 'skip' })
  async *skipped(@Args('id') id: string) {
    yield* payloads('skipped', this.#rows(id));
  }

  #rows(_id: string): AsyncIterable<string> {
    return customIterable(this.rows);
  }
}

/** One subscription of a client: its messages, and its end. */
class Subscribed {
  readonly values: unknown[] = [];
  end: unknown;
  readonly leave: () => void;

  constructor(client: Client, field: string) {
    const query = `subscription { ${field}(id: "7") }`;
    this.leave = client.subscribe(
      { query },
      {
        next: ({ data, errors }) => this.values.push(data?.[field] ?? errors),
        error: (error) => (this.end = error),
        complete: () => (this.end ??= 'complete'),
      },
    );
  }
}

describe('a locked subscription of GraphQL', () => {
  let transport: TransportApp;
  let rows: Rows;
  let client: Client;
  const sockets: WebSocket[] = [];

  beforeAll(async () => {
    transport = await openTransport({
      imports: [
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          autoSchemaFile: true,
          subscriptions: { 'graphql-ws': true },
        }),
      ],
      providers: [Feeds, Rows],
    });
    rows = transport.get(Rows);
  });
  afterAll(() => transport[Symbol.asyncDispose]());
  beforeEach(async () => {
    rows.reset();
    transport.takeLog();
    class Socket extends WebSocket {
      constructor(url: string, protocol: string) {
        super(url, protocol, { headers: { 'x-tenant': 'acme' } });
        sockets.push(this);
      }
    }
    const url = `${(await transport.app.getUrl()).replace('http', 'ws')}/graphql`;
    client = createClient({ url, webSocketImpl: Socket, retryAttempts: 0 });
  });
  afterEach(async () => {
    rows.flow();
    transport.control.free();
    await until(() => transport.isFree('feed:7'));
    await client.dispose();
  });

  describe.each(['generator', 'promised', 'returned', 'told', 'filtered', 'before'])(
    '%s',
    (field) => {
      it('runs one at a time', async () => {
        rows.flow();
        const subscribed = [1, 2, 3].map(() => new Subscribed(client, field));
        await until(() => subscribed.every(({ end }) => end));
        expect(subscribed.map(({ values }) => values)).toEqual(
          subscribed.map(() => ['first', 'second']),
        );
        expect([rows.begun, rows.most]).toEqual([3, 1]);
      });

      it.each<[string, (subscribed: Subscribed) => void]>([
        ['unsubscribes', (subscribed) => subscribed.leave()],
        ['hangs up', () => sockets.at(-1)!.terminate()],
      ])('holds the lock after its client %s, until it has ended', async (_how, leave) => {
        const subscribed = new Subscribed(client, field);
        await until(() => subscribed.values.length > 0);
        expect(rows.key).toBe('feed:7');
        leave(subscribed);
        rows.second.resolve(); // a generator ends between two steps
        await until(() => rows.isClosing);
        expect(await transport.isFree('feed:7')).toBe(false);
        rows.cleanUp.resolve();
        await until(() => transport.isFree('feed:7'));
      });

      it('ends with an error when the lock is lost', async () => {
        const subscribed = new Subscribed(client, field);
        await until(() => subscribed.values.length > 0);
        transport.control.lose('feed:7');
        rows.flow();
        await until(() => subscribed.end);
        expect(subscribed.values).not.toContain('second');
        expect(subscribed.end).not.toBe('complete');
      });

      it('runs nothing for a client that left while it waited', async () => {
        const elsewhere = transport.control.hold('feed:7');
        const subscribed = new Subscribed(client, field);
        await transport.control.untilWaiting('feed:7');
        sockets.at(-1)!.terminate();
        await until(() => transport.control.waiters() === 0);
        elsewhere.release();
        expect(subscribed.values).toEqual([]);
        expect(rows.begun).toBe(0);
      });
    },
  );

  it('tells that it is busy, as queries do', async () => {
    transport.control.hold('feed:7:acme');
    const subscribed = new Subscribed(client, 'busy');
    await until(() => subscribed.end);
    expect([...subscribed.values, subscribed.end].flat()).toContainEqual(
      expect.objectContaining({ extensions: expect.objectContaining({ code: 'LOCK_TIMEOUT' }) }),
    );
  });

  it('reads the headers of its connection', async () => {
    rows.flow();
    const subscribed = new Subscribed(client, 'busy');
    await until(() => subscribed.end);
    expect(transport.log).toEqual(['+feed:7:acme', '-feed:7:acme']);
  });

  it('ends at once where a busy one is skipped', async () => {
    transport.control.hold('feed:7');
    const subscribed = new Subscribed(client, 'skipped');
    await until(() => subscribed.end);
    expect([subscribed.end, subscribed.values]).toEqual(['complete', []]);
  });

  it('is the only operation that may return an iterable', async () => {
    const { body } = await transport.http.post('/graphql').send({ query: '{ list }' });
    expect(body.errors[0].message).toMatch(
      /Feeds\.list returned an async iterable, which only HTTP handlers and GraphQL subscriptions/,
    );
    expect(transport.log).toEqual(['+feed:query', '-feed:query']);
  });
});
