import { holdfast } from '../../lib/holdfast.mjs';
import { projectRequire } from '../../lib/project.mjs';
import { openDatabase } from '../../lib/sqlite.mjs';

const { SqlLockStore } = projectRequire('nest-holdfast/sql');

export default () => [
  holdfast('holdfast-sqlite', {
    config: 'defaults, libsql, WAL',
    features: ['sqlite'],
    quick: true,
    async open(file) {
      const database = openDatabase(file);
      const store = new SqlLockStore({ sqlite: database });
      await store.createTable();
      return { store, close: () => database.close() };
    },
  }),
];
