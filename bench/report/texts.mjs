/** What each group of tables measures: its heading, the ids of its tables, the chart it has, and one honest paragraph. */
export const SECTIONS = [
  {
    heading: 'A lock now and then',
    tables: /^paced$/,
    charts: ['paced.svg'],
    text: `What an application sees. A process takes a lock, releases it, does some milliseconds of other work (it builds, serialises,
parses, sorts and matches a list) and sleeps; then the raw client has its turn, in the same process. So every cycle finds caches that
other work has used and code that is half warm. Each candidate has a process and a connection of its own, and all have the same number
of cycles. \`/raw\` is the ratio to the raw client of the same process in the same round. nest-holdfast
counts a fencing token with every grant, which raw and most peers do not. \`holdfast\` renews no lock here, as the peers in their best
configuration; \`holdfast-renewing\` is what a service gets that sets nothing.`,
  },
  {
    heading: 'A lock right after a garbage collection',
    tables: /^collected$/,
    charts: [],
    text: `The same, with a full collection forced right before each cycle. It shows what a candidate leaves for the collector to move
or to throw away, compiled code included.`,
  },
  {
    heading: 'Warm: a lock nobody else wants',
    tables: /^uncontended-/,
    charts: ['cycles.svg'],
    text: `One process takes and releases locks on distinct keys, as many at a time as the concurrency says. Every candidate has a
connection of its own to the same server; the raw client (\`SET NX PX\` and a compare-and-delete by \`EVALSHA\`) runs right before
or right after each sample, and \`/raw\` is the median of the ratios of those pairs, so the raw client's own row shows how much
noise is left. nest-holdfast counts a fencing token with every grant, which raw and most peers do not. \`client µs\` is the
CPU time of the whole process per cycle, garbage collection included; \`writes\` are socket writes per cycle.`,
  },
  {
    heading: 'Cold: the first locks of a process',
    tables: /^cold$/,
    charts: [],
    text: `Each candidate alone in fresh processes that load nothing else. The connection is made before the clock starts; the first lock
then loads scripts and runs code that was never run. \`all ms\` is the time of all of them, one after the other.`,
  },
  {
    heading: 'The decorated call',
    tables: /^decorated-/,
    charts: [],
    text: `A Nest provider's method with \`@DistributedLock('<0>')\` and \`withLock\` around an empty function, against the raw commands on
the very same connection (ioredis 6) right next to it, each of the two in a process of its own. The raw side makes its token with \`randomUUID\`. Its spread shows what one
round is worth.`,
  },
  {
    heading: 'Import',
    tables: /^coldstart$/,
    charts: [],
    text: `Fresh processes load Nest and the Redis client and then the package; only the last step counts. A row for the client itself, where
there is one, is loaded after Nest alone. nest-holdfast is loaded with
the project's own Nest and ioredis 6, the peers with Nest 10 and ioredis 5 (or node-redis), each as the Node version at hand resolves
it. The files are in the page cache: a first start from a cold disk takes longer for everyone.`,
  },
  {
    heading: 'Many waiters in one process',
    tables: /^contended-/,
    charts: ['hand-off.svg', 'commands-per-grant.svg'],
    text: `All waiters ask for one key at once; each holds it for 0 or 1 ms in turn. \`total/ideal\` compares the whole with the holds plus
one round trip per grant: what a lock that hands over in the server cannot beat, but one that hands over inside the process can. A
hand-off is the time from before \`release()\` to the moment the next \`acquire()\` has returned, in ms; \`commands/grant\` is everything
the process wrote to its sockets, polls and subscriptions included. \`rank\` compares the orders of requests and grants (1: first come,
first served). A poller's hand-off is mostly its delay: the tuned configurations wait 10 ms at most, which costs them commands.
A request waits 5 s at most: \`grants\` says how
many got the key, and the total of a row with fewer is not that of all waiters. nest-holdfast passes a key on inside the process by default, the other waiters are in the same process here: the strict row is
the one without that.`,
  },
  {
    heading: 'Several processes',
    tables: /^processes-burst$/,
    charts: [],
    text: `The same burst from four processes at once, which are fresh in every round and know one candidate alone; a burst that is not
counted comes first. By default nest-holdfast lets waiters of the same process go first for a while
(\`localPassLimit\`), which saves commands and costs order; \`holdfast-strict\` (\`localPassLimit: 0\`) grants in the order of the requests.
\`rank\` is that order; \`same process\` is the share of hand-overs that stayed inside a process (0.25 would be blind chance). Four busy
processes, the server and this harness share the cores of one machine, so the totals of libraries that poll hard include their own
crowding; \`client µs\` is the CPU time of all four.`,
  },
  {
    heading: 'Fairness',
    tables: /^processes-steady$/,
    charts: [],
    text: `Four processes with 32 workers each take the key again and again; grants after the end do not count for rate and fairness.
\`jain\` is Jain's index over the grants of the 128 workers: 1 when everyone got the same, 1/128 when one got everything. A library that
lets the last holder take the key again reaches a high rate and a low index, so the two belong together.`,
  },
  {
    heading: 'Dead and hung processes',
    tables: /^crash$/,
    charts: [],
    text: `Three processes. Holder killed: the holder gets SIGKILL while a waiter waits; counted from the end of the ttl that the holder had
asked for, which nobody can undercut by much. Waiter killed, waiter hung: the first of two waiters gets SIGKILL or SIGSTOP, then
the holder releases; counted from the release to the grant of the second. The candidates wait side by side on keys of their own, so
a few ms are the neighbours'. Pollers have no line to be broken: killed waiters cost them nothing but their poll delay.`,
  },
  {
    heading: 'Held locks',
    tables: /^renewal$/,
    charts: ['held-locks.svg'],
    text: `Locks that one process holds and keeps alive by automatic renewal, with the library's own settings for when to renew. The
server decides at the end which of them were lost. \`client %\` is the CPU time of the whole process, the harness's own looks at the keys
included; raw renews with a timer per lock at a third of the ttl. Libraries without automatic renewal are not in this table.`,
  },
  {
    heading: 'A server that stands still',
    tables: /^pause$/,
    charts: [],
    text: `The server gets SIGSTOP once and SIGCONT a moment later. What is lost is what was gone from the server afterwards or what the
library reported as lost, whichever is more. A library that renews late has less time left for such a pause: that is a choice of its
defaults, and \`lowest ttl ms\` shows it.`,
  },
  {
    heading: 'Memory that is left',
    tables: /^memory$/,
    charts: [],
    text: `Keys that were locked once and released, on a server of their own: what is left there for each of them, and when the last of it
expires. Bytes are those of \`MEMORY USAGE\`, which leaves out the tables of the server. \`bytes held\` is the same while the lock is held. nest-holdfast keeps counters of fencing tokens, 1,024 at
most on one server, which the keys share: more keys leave no more.`,
  },
  {
    heading: 'Processes that wait',
    tables: /^waiting$/,
    charts: [],
    text: `Processes that wait for one key, which somebody keeps. They are not started: for each of the \`sockets\` there is one
connection that sends what the store of such a process sends, with the same scripts, at the same pace and at a time of its own; the
\`services\` are real ones, with the two connections that each of them has. \`server %\` is all that the server used of one core,
0.1 of it when nobody is connected. \`beats/s\` are signs of life, \`questions/s\` the questions whether messages still arrive.
\`bytes/waiter\` is what the line takes on the server, \`left\` the keys that are there after the last one has gone.`,
  },
  {
    heading: 'Several servers: a lock nobody else wants',
    tables: /^redlock-uncontended-/,
    charts: ['redlock-cycles.svg'],
    text: `Redlock: a lock counts once most of five independent servers have granted it. All five run on this machine and share its
cores with the client, so no network hides what a candidate computes, and rates are lower than those of five machines would be. The
raw client sends \`SET NX PX\` to all five at once and goes on with the third yes, then the same with the compare-and-delete.
nest-holdfast counts fencing tokens that agree over the majority here too. Keys are new in every cycle. Libraries that cannot ask several servers are not in these tables.`,
  },
  {
    heading: 'Several servers, one of them hung',
    tables: /^redlock-hung$/,
    charts: [],
    text: `One of the five gets SIGSTOP: it keeps its connections and says nothing, and the clients' own options are left at what ioredis
comes with (no command timeout). Each candidate is alone, on fresh connections, and is compared with itself on five healthy servers
right before and right after. The hung server also leaves its share of the CPU to the others, which is why a rate can be higher
than the healthy one. \`stuck\` counts the workers, out of the concurrency, that still had no answer when the time was over; what they
waited counts in \`hung p99 ms\`. \`growth MB\` is what was on the heap and beside it afterwards, with the server still hung and
after a garbage collection: what the client keeps for a server that may never answer.`,
  },
  {
    heading: 'Several servers, many waiters in one process',
    tables: /^redlock-contended$/,
    charts: [],
    text: `As above with one server, on five. \`total/ideal\` still counts a single round trip to a single server per grant, which no
majority reaches unless the lock is passed on inside the process. Pollers can split the votes of the servers between them so that nobody
has most of them; a request waits 5 s at most, and \`grants\` says how many got the key.`,
  },
  {
    heading: 'Several servers, several processes',
    tables: /^redlock-processes$/,
    charts: [],
    text: `The same burst from four processes at once. Ten busy processes share the cores of one machine, which shows in every total.`,
  },
  {
    heading: 'Stores',
    tables: /^stores$/,
    charts: [],
    text: `Each store beside what its system offers without nest-holdfast. Rates compare within one store only: memory and Redis keep
nothing on disk here; the others run as their makers deliver them, one server each, and sync to disk what they promise to keep, so
the disk decides whatever writes. syncguard's PostgreSQL store is missing: the npm registry did not have the package. A lock of the session (\`pg_advisory_lock\`, \`GET_LOCK\`) writes nothing and has no
fencing token; it takes a connection for as long as it is held or waited for, and ends with it. The rows, nodes and leases of the others
are written at least twice per cycle.

Cycles are on distinct keys. For the hand-off (in ms), as many services as waiters ask for one key at once, each on connections of its
own as if it were another process; all are in one process here, so a client that polls or wakes up many pays for it in the event loop
that the others need too. Each holds the key for 0 or 1 ms in turn. \`one service\`: the waiters are calls of one service, which
nest-holdfast lines up in the process; where its store can pass a lock on, that takes one request or none, elsewhere each is a release and a new request.
A burst that is not counted comes first and connects what is only needed to wait. A request waits 5 s at most: \`grants\` says how many
got the key. Requests are what the client wrote to its sockets, one for each answer that it waits for; for SQLite they are statements
without PRAGMAs.`,
  },
];
