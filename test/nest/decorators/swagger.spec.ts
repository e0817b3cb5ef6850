import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import {
  ApiBody,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiQuery,
  ApiTags,
  DocumentBuilder,
  SwaggerModule,
} from '@nestjs/swagger';
import { DistributedLock } from 'nest-holdfast';
import { startApp } from '../support/test-app.js';

class PayDto {
  @ApiProperty()
  amount!: number;
}

class Paid {
  @ApiProperty()
  id!: string;
}

const Documented: MethodDecorator = (...method) => {
  ApiOperation({ summary: 'Pays an order' })(...method);
  ApiOkResponse({ type: Paid })(...method);
  ApiHeader({ name: 'x-tenant' })(...method);
  ApiQuery({ name: 'dry', required: false })(...method);
  ApiBody({ type: PayDto })(...method);
};

@ApiTags('orders')
@Controller('orders')
class Orders {
  @Documented
  @Post('unlocked/:id')
  async unlocked(@Param('id') id: string, @Body() dto: PayDto, @Query('dry') dry: string) {
    return [id, dto, dry];
  }

  @DistributedLock('order:<id>')
  @Documented
  @Post('above/:id')
  async above(@Param('id') id: string, @Body() dto: PayDto, @Query('dry') dry: string) {
    return [id, dto, dry];
  }

  @Documented
  @Post('below/:id')
  @DistributedLock('order:<id>')
  async below(@Param('id') id: string, @Body() dto: PayDto, @Query('dry') dry: string) {
    return [id, dto, dry];
  }

  @DistributedLock('one')
  @Get('annotated')
  async annotated(): Promise<Paid> {
    return { id: '1' };
  }
}

it.each(['above', 'below'])('Swagger says the same with the lock %s', async (where) => {
  await using app = await startApp({ controllers: [Orders] });
  const config = new DocumentBuilder().build();
  const { paths } = SwaggerModule.createDocument(app.app, config);
  const operation = (name: string) => ({
    ...paths[`/orders/${name}/{id}`]?.post,
    operationId: '',
  });
  expect(operation(where)).toEqual(operation('unlocked'));
  expect(operation(where)).toMatchObject({ summary: 'Pays an order', tags: ['orders'] });
  expect(Object.keys(paths)).toHaveLength(4);
});
