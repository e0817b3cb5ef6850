import { LockService } from 'nest-holdfast';
import { SqlLockStore } from 'nest-holdfast/sql';

it.each([1, 200, 65_535])(
  'MariaDB: an answer of which one byte is damaged (insertId %i) grants nothing',
  async (insertId) => {
    const answer = [{ affectedRows: 1, insertId, serverStatus: 2 }];
    const query = (): Promise<any> => Promise.resolve(answer);
    const locks = new LockService(new SqlLockStore({ mysql: { query } }));
    await expect(locks.tryAcquire('order:42')).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    await locks.close();
  },
);

it.each([1, 2 ** 31 + 1, 0x5a5a_5a5a_5a5b])(
  'MariaDB: an answer of which one byte is damaged (insertId %i) grants no permit',
  async (insertId) => {
    const answer = [{ affectedRows: 1, insertId, serverStatus: 2 }];
    const query = (): Promise<any> => Promise.resolve(answer);
    const locks = new LockService(new SqlLockStore({ mysql: { query } }));
    const attempt = locks.tryAcquire('order:42', { permits: 5 });
    await expect(attempt).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    await locks.close();
  },
);
