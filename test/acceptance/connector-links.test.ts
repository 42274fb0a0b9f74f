/** docs/contract.md#policies, over a connector: what refers to what is told by no write to a caller who does not see it. */
import type { CollectionDeclaration, Item } from 'governed-data-service/connector-kit'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type ExternalSystem, startExternalSystem } from '../support/servers/external-system.ts'
import { connect, field, relateImported } from '../support/service/connected.ts'
import { people } from '../support/service/people.ts'
import { type Client, type Workspace, world } from '../support/service/world.ts'

const [int32, string] = [{ name: 'int32' }, { name: 'string' }] as const

function collection(name: string, fields: CollectionDeclaration['fields']): CollectionDeclaration {
  return {
    name,
    fields,
    key: ['id'],
    operations: ['readMany', 'readOne', 'createMany', 'updateOne', 'updateMany', 'deleteOne', 'deleteMany'],
    filter: Object.fromEntries(fields.map(({ name: one }) => [one, ['eq', 'in', 'null']])),
    sort: ['id'],
    count: true,
    offset: true,
  }
}

const owners = collection('owners', [field('id', int32, false), field('name', string), field('code', int32)])
const pets = collection('pets', [field('id', int32, false), field('name', string), field('ownerId', int32)])

const rows: Readonly<Record<string, readonly Item[]>> = {
  owners: [
    { id: 1, name: 'Ada', code: 101 },
    { id: 2, name: 'Grace', code: 102 },
    { id: 3, name: 'Edsger', code: 103 },
  ],
  pets: [
    { id: 10, name: 'Rex', ownerId: 2 },
    { id: 11, name: 'Tom', ownerId: null },
  ],
}

let shop: Workspace
let system: ExternalSystem

beforeAll(async () => {
  system = await startExternalSystem([owners, pets], rows)
  shop = await world.workspace('links', {})
  await connect(shop, system, 'external')
  await relateImported(shop, 'pets.owner(ownerId) -> owners.pets')
})

afterAll(() => system.close())

beforeEach(() => fill())

function fill(): void {
  for (const [name, items] of Object.entries(rows)) system.records.set(name, structuredClone([...items]))
}

const stored = (name: string) => system.records.get(name)

function member(owner: object, pet: object): Promise<Client> {
  return people.member(shop, { collections: { owners: owner, pets: pet } })
}

it('a hidden reference cannot be guessed by writing it again', async () => {
  const blind = await member({}, { read: { fields: ['id', 'name'] }, update: { fields: ['name', 'ownerId'] } })

  const answers = []
  for (const ownerId of [1, 2, 3, 4]) answers.push((await blind.patch('/items/pets/10', { ownerId })).status)

  expect(answers).toEqual([422, 422, 422, 422])
  expect(stored('pets')).toEqual(rows.pets)
})

/** Operations of a relation that find what is linked, and what each does for who sees it: forward, and back. */
const followed = [
  ['/items/pets/10', { owner: [{ _update: { data: { code: 7 } } }] }],
  ['/items/owners/2', { pets: [{ _update: { filter: { _all: true }, data: { name: 'MARK' } } }] }],
  ['/items/owners/2', { pets: [{ _delete: { filter: { _all: true } } }] }],
  ['/items/owners/2', { pets: [{ _disconnect: { filter: { _all: true } } }] }],
] as const

it.each(followed)('a hidden link is followed by no nested write: %s %j', async (path, body) => {
  const read = { fields: ['id', 'name'] }
  const blind = await member(
    { read, update: { fields: ['code', 'pets'] }, delete: 'all' },
    { read, update: { fields: ['name', 'owner', 'ownerId'] }, delete: 'all' },
  )
  const before = await (await blind.get(`${path}?fields=id,name`)).json()

  const answer = await blind.patch(`${path}?fields=id,name`, body)

  expect([answer.status, await answer.json()]).toEqual([200, before])
  expect([stored('owners'), stored('pets')]).toEqual([rows.owners, rows.pets])
})

it.each([...followed, ['/items/owners/2', { pets: [{ _create: { data: [{ id: 12, name: 'New' }] } }] }] as const])(
  'the answer is of the item that was named, and not of what was written: %s %j',
  async (path, body) => {
    const whole = { read: 'all', create: 'all', update: 'all', delete: 'all' }
    const seeing = await member(whole, whole)
    const before = await (await seeing.get(path)).json()

    const answer = await seeing.patch(path, body)

    expect([answer.status, await answer.json()]).toEqual([200, before])
    expect([stored('owners'), stored('pets')]).not.toEqual([rows.owners, rows.pets])
  },
)

it('what is hidden of a linked item is not shown under the names of another one', async () => {
  const seeing = await member(
    { read: { fields: ['id'] }, update: { fields: ['code'] } },
    { read: 'all', update: 'all' },
  )

  const answer = await seeing.patch('/items/pets/10?fields=id,name', { owner: [{ _update: { data: { code: 7 } } }] })

  expect(await answer.json()).toEqual({ data: { id: 10, name: 'Rex' } })
  expect(stored('owners')?.[1]).toEqual({ id: 2, name: 'Grace', code: 7 })
})

it('an item of a list that stays what it is is answered beside one that does not', async () => {
  const answer = await shop.patch('/items/pets?fields=id,name', [{ id: 11 }, { id: 10, name: 'Bello' }])

  expect([answer.status, await answer.json()]).toEqual([
    200,
    {
      data: [
        { id: 11, name: 'Tom' },
        { id: 10, name: 'Bello' },
      ],
    },
  ])
})
