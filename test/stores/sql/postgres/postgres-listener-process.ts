import { Client } from 'pg';
import { PostgresListener } from '../../../../lib/stores/sql/postgres/postgres-listener.js';

/** Begins to listen, and has nothing else to do. */
const events = { notified: () => {}, missed: () => {} };
void new PostgresListener(() => new Client(process.argv[2]), 'holdfast_locks', events).open();
