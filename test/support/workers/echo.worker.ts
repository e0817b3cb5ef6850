import { openChannel } from '../processes/worker-channel.js';

const channel = openChannel<{ pid: number } | { echo: string }, { say: string }>();
channel.onMessage(({ say }) => channel.send({ echo: say }));
channel.send({ pid: process.pid });
