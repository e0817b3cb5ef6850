/**
 * A candidate that is `instances` of one, each with connections of its own, which take the requests in turn: as many services,
 * with one request each, in one process.
 */
export function spread(instances) {
  const [first, ...others] = instances;
  let count = 0;
  return {
    ...first,
    async setup(...addresses) {
      await first.setup(...addresses); // makes the tables that are missing
      await Promise.all(others.map((each) => each.setup(...addresses)));
    },
    acquire(...request) {
      return instances[count++ % instances.length].acquire(...request);
    },
    async close() {
      await Promise.allSettled(instances.map((each) => each.close()));
    },
  };
}
