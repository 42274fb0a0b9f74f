/**
 * Tables that have lost their key, or that others inherit from, since they were imported (docs/contract.md#how-policies-act):
 * a row that may not be read has the key of one that may.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

const columns = 'id int, holder varchar(20) not null, a varchar(20), b varchar(20), c varchar(20)'
const notes = (name: string) => [
  `create table ${name} (${columns}, primary key (id))`,
  `create index ${name}_by_holder on ${name} (holder)`,
]
/** One row of each of both, and more to skip. */
const secret = `(1, 'other', 'secret', 'secret', 'secret')`
const own = `(1, 'mine', 'a', 'b', 'c')`
const more = Array.from({ length: 60 }, (_, index) => `(${index + 100}, 'mine', 'a', 'b', 'c')`).join()

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('stale', {})
  const { postgres, mariadb } = servers
  await postgres.run(...notes('lost'), ...notes('parents'))
  await mariadb.run(...notes('dropped'))
  await attach('postgres')
  await attach('mariadb')
  await postgres.run(
    'alter table lost drop constraint lost_pkey',
    `insert into lost values ${secret}, ${own}, ${more}`,
    `create table heirs () inherits (parents)`,
    `insert into parents values ${secret}`,
    `insert into heirs values ${own}, ${more}`,
  )
  await mariadb.run('alter table dropped drop primary key', `insert into dropped values ${secret}, ${own}, ${more}`)
})

afterAll(() => servers?.close())

async function attach(provider: 'postgres' | 'mariadb') {
  const { config } = servers[provider]
  const attached = await shop.post('/sources/data', { apiName: provider, provider, config })
  const { data } = (await attached.json()) as { data: { id: string } }
  await shop.send('POST', `/schema/introspect/${data.id}`)
}

it.each(['lost', 'parents', 'dropped'])('of %s only rows are read that a policy admits', async (collection) => {
  const read = { filter: { holder: { _eq: 'mine' } } }
  const clerk = await people.member(shop, { collections: { [collection]: { read } } })
  const ask = async (body: object) => {
    const response = await clerk.send('QUERY', `/items/${collection}`, { body })
    return ((await response.json()) as { data: readonly { id: number; holder: string }[] }).data
  }

  const sorted = await ask({ sort: [{ a: { direction: 'desc' } }], limit: 100 })
  const skipped = await ask({ sort: [{ holder: { direction: 'desc' } }], limit: 1, offset: 60 })
  const byKey = await ask({ sort: [{ id: { direction: 'desc' } }], limit: 1, offset: 60 })

  expect(sorted).toHaveLength(61)
  expect([...sorted, ...skipped, ...byKey].filter(({ holder }) => holder !== 'mine')).toEqual([])
  expect([skipped, byKey]).toMatchObject([[{ id: 1 }], [{ id: 1 }]])
})
