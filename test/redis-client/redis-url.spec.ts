import { wrongOfUrl } from '../../lib/redis-client/redis-url.js';

const SECRET = 'hunter2Secret';

it.each([
  'redis://host',
  'redis://host/',
  'redis://host:6379/15',
  'redis://host/0/',
  'redis://host?db=3',
  'rediss://user:p%40ss@[::1]:6379/1?family=6',
])('%s is a URL that ioredis can use', (url) => {
  expect(wrongOfUrl(url)).toBeUndefined();
});

it.each([
  ['redis://host/shop', /number of a database/],
  ['redis://host/3a', /number of a database/],
  ['redis://host/-1', /number of a database/],
  ['redis://host?db=shop', /number of a database/],
  [`redis://u:${SECRET}%ZZ@host`, /escaped/],
  [`redis://${SECRET}%ZZ:x@host`, /escaped/],
  [`redis://u:${SECRET}/x@host`, /escaped/],
])('%s is refused', (url, reason) => {
  expect(wrongOfUrl(url)).toMatch(reason);
  expect(wrongOfUrl(url)).not.toContain(SECRET);
});
