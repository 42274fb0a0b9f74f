/**
 * docs/contract.md#the-model-as-a-file on PostgreSQL and MariaDB: the file of a random model, applied over that of another,
 * is the file that is there; then nothing is left to do, and an import finds nothing. Renames keep rows.
 * SERVICE_TEST_CASES is how many models each has.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { anyThrows } from '../support/data/random-operations.ts'
import { casesOr } from '../support/run/cases.ts'
import { type Client, introspect, signIn, type Workspace } from './support/client.ts'
import { compileReplica, type Instance, openInstance, type Replica, startReplica } from './support/instance.ts'
import {
  apply,
  exported,
  type FieldOfFile,
  type File,
  fileOfThrows,
  type Place,
  places,
  planIn,
  planned,
  reaching,
} from './support/model-files.ts'

const CASES = casesOr(6)
const seed = Number(process.env.SERVICE_TEST_SEED)

let instance: Instance
let replica: Replica
let client: Client

beforeAll(async () => {
  await compileReplica()
  instance = await openInstance()
  replica = await startReplica(instance, reaching)
  client = await signIn(instance.administrator, replica.url)
})

afterAll(async () => {
  await replica?.kill()
  await instance?.close()
})

it.each(Object.keys(places) as Place[])(
  'is the model that is there after it, one after the other, on %s',
  async (place) => {
    const made = await client.workspace(`files_${place.toLowerCase()}`)
    const { workspace, close } = await places[place].open(client, made)
    const counts = { models: 0, collections: 0, rowsKept: 0, refused: 0 }
    for (const [index, throws] of fc
      .sample(anyThrows({ minLength: 3, maxLength: 40 }), { numRuns: CASES, seed })
      .entries()) {
      const file = await fileOfThrows(instance.database, { workspace, place, throws })
      const about = `model ${index} of SERVICE_TEST_SEED=${seed}: ${JSON.stringify(file)}`

      // Where a new column cannot come before the last old one goes, MariaDB has no way, and the plan says so.
      const first = await planned(client, workspace, file)
      if (
        place === 'MariaDB' &&
        first.status === 422 &&
        JSON.stringify(first.body).includes('no tables without columns')
      ) {
        counts.refused += 1
        continue
      }
      // No name of the database goes from one to another at once.
      if (JSON.stringify(first.body).includes('is given up by'))
        await applied(workspace, { ...file, collections: {} }, about)
      await applied(workspace, file, about)
      expect(await exported(client, workspace), about).toEqual(file)
      expect(await introspect(client, workspace), about).toMatchObject({
        status: 200,
        body: { data: { operations: [] } },
      })
      counts.rowsKept += await rowKeptOverRenames(workspace, file, about)
      counts.models += 1
      counts.collections += Object.keys(file.collections).length
    }
    await close()
    console.log(`${place}:`, counts)
    expect(counts.refused).toBeLessThanOrEqual(Math.ceil(CASES / 50))
  },
  Math.max(10 * 60_000, CASES * 10_000),
)

/** Plans, applies, and plans again, which finds nothing to do. */
async function applied(workspace: Workspace, file: object, about: string): Promise<void> {
  const before = await planned(client, workspace, file)
  expect(before.status, `${about} ${JSON.stringify(before.body)}`).toBe(200)
  const done = await apply(client, workspace, file, planIn(before).plan)
  expect(done.status, `${about} ${JSON.stringify(done.body)}`).toBe(200)
  expect(planIn(await planned(client, workspace, file)), about).toMatchObject({ changes: [], operations: [] })
}

/** Renames a collection with a row and one of its fields; how many rows were looked at. */
async function rowKeptOverRenames(workspace: Workspace, file: File, about: string): Promise<number> {
  for (const [name, collection] of Object.entries(file.collections)) {
    const [field] = Object.keys(collection.fields).filter((other) => isFree(collection, other))
    if (field === undefined || collection.key?.length === 0) continue
    const items = `/api/${workspace.apiName}/items`
    const made = await client.send('POST', `${items}/${name}`, [itemOf(collection.fields)])
    if (made.status !== 200) continue
    const [row] = (made.body as { data: Record<string, unknown>[] }).data

    await applied(workspace, renamed(file, name, field), about)
    const read = await client.send('GET', `${items}/renamed`)
    const { [field]: value, ...others } = row ?? {}
    expect(read, about).toEqual({ status: 200, body: { data: [{ ...others, renamedField: value }] } })
    await client.send('DELETE', `${items}/renamed?filter[renamedField][_null]=${value === null}`)
    return 1
  }
  return 0
}

/** No key, index or relation has it. */
function isFree(collection: File['collections'][string], field: string): boolean {
  const { fields, ...others } = collection
  const relations = Object.values(fields).filter((value) => typeof value === 'object' && value.to !== undefined)
  return field !== 'id' && typeOf(fields[field]) !== undefined && !JSON.stringify([others, relations]).includes(field)
}

function renamed(file: File, name: string, field: string): object {
  const { [name]: collection, ...others } = file.collections
  const fields = Object.entries(collection?.fields ?? {}).map(([own, value]) => {
    if (own !== field) return [own, value]
    return ['renamedField', { ...(typeof value === 'string' ? { type: value } : value), renamedFrom: field }]
  })
  const collections = { ...others, renamed: { ...collection, fields: Object.fromEntries(fields), renamedFrom: name } }
  const at = (text: string) => (text.replace('?', '') === name ? text.replace(name, 'renamed') : text)
  return JSON.parse(JSON.stringify({ ...file, collections }), (member, value) => (member === 'to' ? at(value) : value))
}

function typeOf(field: FieldOfFile | undefined): string | undefined {
  return typeof field === 'object' ? field.type : field
}

function itemOf(fields: Readonly<Record<string, FieldOfFile>>): object {
  const entries = Object.entries(fields).flatMap(([name, field]) => {
    const type = typeOf(field)
    if (type === undefined || / (auto|always)/.test(type)) return []
    return [[name, values[/^\w+/.exec(type)?.[0] ?? '']]]
  })
  return Object.fromEntries(entries)
}

const values: Readonly<Record<string, unknown>> = {
  int32: 7,
  int64: '7',
  string: 'text',
  boolean: true,
  date: '2026-01-31',
  dateTime: '2026-01-31T12:00:00',
  json: { a: [1] },
}
