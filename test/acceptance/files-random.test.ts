/**
 * Random policies on files, with conditions through relations: the bytes of a file are sent, and lent by a link, exactly where its
 * row is read (docs/contract.md#files).
 */
import { expect, it } from 'vitest'
import { createDice, seed } from '../fuzz/support/dice.ts'
import { casesOr } from '../support/run/cases.ts'
import { people } from '../support/service/people.ts'
import { type Client, world } from '../support/service/world.ts'

const shop = await world.workspace('random_files', {})
const dice = createDice(seed)
const FIELDS = ['fileName', 'fileSize', 'mediaType', 'title', 'createdAt'] as const

async function upload(fileName: string, body: string): Promise<string> {
  const response = await shop.send('POST', `/assets?fileName=${fileName}`, { raw: body })
  return ((await response.json()) as { data: { id: string } }).data.id
}

/** Files that films refer to, of two of them one to the other. */
async function made(): Promise<readonly string[]> {
  const fields = { id: 'int64 auto', title: 'string', poster: { to: 'ServiceFile?', opposite: 'posterOf' } }
  const films = { fields: { ...fields, stills: { many: 'ServiceFile', opposite: 'stillsOf' } } }
  const model = { version: 1, collections: { films } }
  const { data } = (await (await shop.post('/schema/plan', { model })).json()) as { data: { plan: string } }
  expect((await shop.post('/schema/apply', { model, plan: data.plan })).status).toBe(200)
  const ids = [
    await upload('a.txt', 'a'),
    await upload('b.txt', 'bb'),
    await upload('c.csv', 'c,c\n1,2'),
    await upload('d.html', '<p>d</p>'),
  ]
  await shop.patch(`/items/ServiceFile/${ids[0]}`, { title: 'one' })
  await shop.insert('films', [
    { title: 'one', posterId: ids[0] },
    { title: 'two', posterId: ids[1], stills: [{ _connect: { keys: [{ id: ids[0] }, { id: ids[2] }] } }] },
  ])
  return ids
}

function condition(depth: number): object {
  if (depth > 0 && dice.once(2)) {
    const below = () => condition(depth - 1)
    return dice.pick([
      () => ({ _and: [below(), below()] }),
      () => ({ _or: [below(), below()] }),
      () => ({ _not: below() }),
      () => ({ [dice.pick(['posterOf', 'stillsOf'])]: { [dice.pick(['_some', '_none'])]: film(depth - 1) } }),
    ])()
  }
  return dice.pick([
    () => ({ fileName: { _contains: dice.pick(['a', '.txt', 'x']) } }),
    () => ({ fileSize: { [dice.pick(['_gt', '_lte'])]: dice.below(9) } }),
    () => ({ mediaType: { _eq: dice.pick(['text/plain', 'text/csv']) } }),
    () => ({ title: { _null: dice.once(2) } }),
  ])()
}

function film(depth: number): object {
  const own = { title: { _eq: dice.pick(['one', 'two']) } }
  return depth > 0 && dice.once(2) ? { _or: [own, { poster: condition(depth - 1) }] } : own
}

function rights(): object {
  if (dice.once(6)) return {}
  if (dice.once(5)) return { ServiceFile: { read: 'all' } }
  const fields = FIELDS.filter(() => dice.once(2))
  // Whoever does not see the key cannot ask for an item by it, and reads its row nevertheless.
  const read = { fields: ['id', ...fields], ...(dice.once(8) ? {} : { filter: condition(3) }) }
  return { ServiceFile: { read }, ...(dice.once(2) && { films: { read: 'all' } }) }
}

const ROUNDS = casesOr(200)

it(`shows the bytes of a file exactly where its row is read, under ${ROUNDS} random policies`, async () => {
  const ids = await made()
  const policies = [await people.policy(shop, {}), await people.policy(shop, {})]
  const role = (await (await shop.post('/roles', { name: 'random', policies })).json()) as { data: { id: string } }
  const robot = { name: 'random', roles: [{ workspace: shop.name, roleId: role.data.id }] }
  const account = (await (await world.administrator.post('/api/system/service-accounts', robot)).json()) as {
    data: { id: string }
  }
  const asked = { name: 'random', userId: account.data.id }
  const { data } = (await (await world.administrator.post('/api/system/api-keys', asked)).json()) as {
    data: { key: string }
  }
  const member = world.bearer(data.key)
  const counts = { read: 0, hidden: 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    const contents = policies.map(() => (dice.once(2) ? rights() : {}))
    for (const [index, collections] of contents.entries()) {
      expect((await shop.patch(`/policies/${policies[index]}`, { content: { collections } })).status).toBe(200)
    }
    for (const id of ids) {
      const isRead = await isOk(member, 'GET', `items/ServiceFile/${id}`)
      const seen = [
        await isOk(member, 'GET', `assets/${id}`),
        await isOk(member, 'HEAD', `assets/${id}?download`),
        await isOk(member, 'POST', `assets/${id}/link`),
      ]
      expect([contents, id, seen]).toEqual([contents, id, [isRead, isRead, isRead]])
      counts[isRead ? 'read' : 'hidden'] += 1
    }
  }
  expect(Object.values(counts).every((count) => count > 0)).toBe(true)
}, 600_000)

async function isOk(member: Client, method: string, path: string): Promise<boolean> {
  const body = method === 'POST' ? { body: {} } : {}
  const response = await member.send(method, `/api/${shop.name}/${path}`, body)
  await response.arrayBuffer()
  expect([200, 403, 404]).toContain(response.status)
  return response.status === 200
}
