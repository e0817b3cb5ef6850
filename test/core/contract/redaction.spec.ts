import { redact } from '../../../lib/core/text/redaction.js';

describe('redact', () => {
  it.each([
    ['a URL', 'redis://:hunter2@h:6379/0 refused', 'redis://***@h:6379/0 refused'],
    ['a user and a password', 'at postgres://u:hunter2@h1,h2/db', 'at postgres://***@h1,h2/db'],
    ['a token instead of a user', 'https://hunter2@h/x', 'https://***@h/x'],
    ['an unescaped "/"', 'redis://:p/hunter2@h:6379', 'redis://***@h:6379'],
    ['an unescaped "#"', 'redis://:p#hunter2@h:6379', 'redis://***@h:6379'],
    ['an unescaped "?"', 'redis://:p?hunter2@h:6379', 'redis://***@h:6379'],
    ['an unescaped "@"', 'redis://:p@hunter2@h:6379', 'redis://***@h:6379'],
    ['a blank', 'redis://:p hunter2@h:6379', 'redis://***@h:6379'],
    ['a forgotten host', 'redis://:hunter2', 'redis://:***'],
    ['a user without a host', 'redis://u:hunter2', 'redis://u:***'],
    ['a password of digits, without a host', 'redis://u:1234567', 'redis://u:***'],
    ['an address of IPv6', 'redis://[::1]:hunter2', 'redis://[::1]:***'],
    ['a query', 'rediss://h/1?password=hunter2&db=1', 'rediss://h/1?password=***&db=1'],
    ['no scheme', 'cannot reach u:hunter2@h:2181', 'cannot reach ***@h:2181'],
    ['the path of a socket', 'connect ENOENT //u:hunter2@h/db', 'connect ENOENT //***@h/db'],
    ['a DSN', 'host=h password=hunter2 user=u', 'host=h password=*** user=u'],
    ['a quoted DSN', "host=h password='hunter 2' user=u", 'host=h password=*** user=u'],
    ['JSON', '{"password":"hunter2","db":1}', '{"password":***,"db":1}'],
    ['a printed object', "{ sentinelPassword: 'hunter2' }", '{ sentinelPassword: *** }'],
    ['a header', 'authorization: Bearer hunter2hunter2', 'authorization: Bearer ***'],
    [
      'a command that a server does not know, and repeats',
      "ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'u' 'hunter2' ",
      "ERR unknown command 'HELLO', with args beginning with: ***",
    ],
    [
      'a private key',
      'not -----BEGIN EC PRIVATE KEY-----\nhunter2\n-----END EC PRIVATE KEY-----\n!',
      'not ***\n!',
    ],
    ['a private key that was cut off', 'not -----BEGIN PRIVATE KEY-----\nhunter2', 'not ***'],
  ])('hides the secret of %s', (_, text, expected) => {
    expect(redact(text)).toBe(expected);
    expect(redact(expected)).toBe(expected);
  });

  it.each([
    'connect ECONNREFUSED 127.0.0.1:6379',
    'redis://h:6379/0',
    'redis://[::1]:6379',
    'http://localhost:2379: refused',
    'https://etcd-1: timeout',
    'no connection to ZooKeeper at a:2181,b:2181',
    "Access denied for user 'u'@'h' (using password: YES)",
    'https://unpkg.com/@scope/package',
    'at file:///app/node_modules/@nestjs/core/injector.js:116:34',
    'at file:///C:/app/node_modules/@nestjs/core/injector.js:116:34',
    'at Object.<anonymous> (C:\\app\\node_modules\\@nestjs\\core\\injector.js:116:34)',
    'WRONGPASS invalid username-password pair or user is disabled.',
    '16 UNAUTHENTICATED: etcdserver: invalid auth token',
  ])('leaves "%s" as it is', (text) => {
    expect(redact(text)).toBe(text);
  });

  it.each(['a:', '=a', '://', 'x://a:', '(a:', '-----BEGIN', 'password=', 'password'])(
    'takes time in proportion to the text, also for "%s" again and again',
    (part) => {
      const costOf = (length: number): number => {
        const text = part.repeat(length / part.length);
        const startedAt = performance.now();
        redact(text);
        return performance.now() - startedAt;
      };
      costOf(10_000); // compiles
      expect(costOf(400_000)).toBeLessThan(100 * costOf(40_000) + 1_000);
    },
  );
});
