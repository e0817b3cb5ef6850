import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  // On Ctrl-C, held locks are released before the process exits.
  app.enableShutdownHooks(['SIGINT', 'SIGTERM'], { useProcessExit: true });
  await app.listen(process.env.PORT ?? 3000, process.env.HOST ?? '127.0.0.1');
  console.log(`The sample app listens on ${await app.getUrl()}`);
}

bootstrap().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
