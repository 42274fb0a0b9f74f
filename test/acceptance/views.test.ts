/** Views that the database can update are written, and collections without a key are read in the database's own order. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers

beforeAll(async () => {
  servers = await startSourceServers()
})

afterAll(() => servers?.close())

const tables = [
  'create table article (id int primary key, title varchar(40) not null, stock int default 7)',
  'create view stocked as select id, title, stock from article where stock > 0',
  'create view loud as select id, upper(title) as loud, title from article',
  'create view louder as select id, loud, title from loud',
  'create view paired as select a.id, b.title from article a join article b on a.id = b.id',
  'create view counted as select count(*) as articles from article',
  'create table logged (word varchar(10), number int)',
  `insert into logged values ('b', 2), ('a', 1), ('c', 3)`,
]

describe.each(['postgres', 'mariadb'] as const)('on %s', (provider) => {
  let shop: Workspace

  beforeAll(async () => {
    const { config, run } = servers[provider]
    await run(...tables)
    if (provider === 'postgres') {
      await run(
        'create view ruled as select * from article',
        'create rule ruled_insert as on insert to ruled do instead nothing',
        'create materialized view kept as select * from article',
      )
    }
    shop = await world.workspace(`views_${provider}`, {})
    const made = await shop.post('/sources/data', { apiName: 'shop', provider, config })
    const { data } = (await made.json()) as { data: { id: string } }
    expect((await shop.send('POST', `/schema/introspect/${data.id}`)).status).toBe(200)
  })

  async function status(response: Promise<Response>): Promise<number> {
    const { status: code } = await response
    return code
  }

  it('writes a view through which the database writes', async () => {
    await shop.insert('article', [{ id: 1, title: 'Lamp', stock: 1 }])
    expect(await shop.insert('stocked', [{ id: 2, title: 'Chair' }])).toEqual([{ id: 2, title: 'Chair', stock: 7 }])
    // MariaDB does not return what it updates, so that takes a key.
    const updated = await status(shop.patch('/items/stocked?filter[id][_eq]=1', { title: 'Light' }))
    expect(updated).toBe(provider === 'mariadb' ? 422 : 200)
    expect(await shop.data('/items/article/1?fields=stock')).toEqual({ stock: 1 })
    expect(await status(shop.delete('/items/stocked?filter[id][_gt]=0'))).toBe(204)
    expect(await shop.data('/items/article')).toEqual([])
  })

  it('writes no other, and no computed column', async () => {
    expect(await status(shop.post('/items/counted', [{ articles: 1 }]))).toBe(422)
    expect(await status(shop.post('/items/loud', [{ id: 6, title: 'a', loud: 'A' }]))).toBe(422)
    expect(await status(shop.post('/items/louder', [{ id: 6, title: 'a', loud: 'A' }]))).toBe(422)
    expect(await status(shop.post('/items/paired', [{ id: 6 }]))).toBe(422)
    await shop.insert('loud', [{ id: 5, title: 'low' }])
    expect(await shop.data('/items/loud')).toEqual([{ id: 5, loud: 'LOW', title: 'low' }])
    if (provider === 'mariadb') return
    expect(await status(shop.post('/items/ruled', [{ id: 6, title: 'a' }]))).toBe(422)
    expect(await status(shop.post('/items/kept', [{ id: 6, title: 'a' }]))).toBe(422)
  })

  it('reads a table without a key in no order but that which is asked for', async () => {
    expect(await shop.data('/items/logged?fields=word')).toEqual([{ word: 'b' }, { word: 'a' }, { word: 'c' }])
    expect(await shop.data('/items/logged?fields=word&sort[0][word][direction]=desc')).toEqual([
      { word: 'c' },
      { word: 'b' },
      { word: 'a' },
    ])
  })
})
