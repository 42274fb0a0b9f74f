/** Nested writes as a conversation, over PlanetScale's HTTP protocol, by a gateway that refuses what Vitess refuses. */
import { describe, expect, it } from 'vitest'
import { buildModel } from '../../src/core/model/model.ts'
import { mariadbConversation } from '../../src/core/sql/mysql/dialect.ts'
import { build } from '../support/data/build.ts'
import { openItems } from '../support/data/items.ts'
import { openBehindPlanetscale } from '../support/servers/planetscale-gateway.ts'
import { describeNestedWrites } from './nested-writes.ts'

describe('behind PlanetScale', () => {
  describeNestedWrites(mariadbConversation, openBehindPlanetscale)

  it('get a key of the database, which their relations find', async () => {
    const { driver, close } = await openBehindPlanetscale()
    const { records } = build.model({ boxes: { id: 'uuid', n: 'int32', wholeId: 'uuid?' } }, [
      'boxes.whole(wholeId) -> boxes.parts',
    ])
    const model = buildModel(1, {
      ...records,
      primitiveFields: records.primitiveFields.map((field) =>
        field.dbName === 'id' ? { ...field, defaultValue: { source: 'connectorManaged' } } : field,
      ),
    })
    const items = openItems(model, driver, mariadbConversation)
    try {
      const text = 'create table boxes (id uuid default uuid() primary key, n int, wholeId uuid)'
      await driver.query({ text, params: [] })
      const parts = [{ _create: { data: [{ n: 2 }, { n: 3 }] } }]

      expect(await items.create('boxes', [{ n: 1, parts }, { n: 4 }], 'fields=n,parts.n')).toEqual([
        { n: 1, parts: { data: expect.arrayContaining([{ n: 2 }, { n: 3 }]) } },
        { n: 4, parts: { data: [] } },
      ])
    } finally {
      await close()
    }
  })
})
