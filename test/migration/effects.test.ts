/**
 * docs/contract.md#what-a-migration-does: random migrations do to rows, views, access tests and policies what their dry run says,
 * and what it says takes them back does.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { FieldType } from '../../src/core/model/field-type.ts'
import type { ModelRecords, PrimitiveFieldRecord } from '../../src/core/model/model.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { anyThrows, applyThrows, type Throw } from '../support/data/random-operations.ts'
import { casesOr, firstOf } from '../support/run/cases.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { openInProcess } from '../support/service/in-process.ts'
import { type Answer, type Client, introspect, migrate, signIn, storedModel, type Workspace } from './support/client.ts'
import { type Place, places, reaching } from './support/model-files.ts'
import { randomOptions } from './support/random.ts'

let server: Awaited<ReturnType<typeof startPostgres>>
let database: SqlDriver
let client: Client

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  const { administrator, request } = await openInProcess({ database, databaseUrl: server.url, variables: reaching })
  client = await signIn(administrator, 'http://localhost', request)
})

afterAll(async () => {
  await database?.close()
  await server?.close()
})

type Operation = {
  readonly kind: string
  readonly data: { readonly id?: string; readonly type?: FieldType; readonly operations?: readonly Operation[] }
}
type Named = { readonly id: string; readonly name: string }
type DryRun = {
  readonly rows: readonly { readonly collection: string; readonly rows: number; readonly destroys: boolean }[]
  readonly breaks: Readonly<Record<'policies' | 'views' | 'tests', readonly Named[]>>
  readonly inverse: readonly object[] | null
  readonly restoresData: boolean
}

const types: readonly FieldType[] = [
  { name: 'int32' },
  { name: 'int64' },
  { name: 'string', params: { length: 'unlimited' } },
  { name: 'string', params: { length: 'fixed', value: 20 } },
  { name: 'boolean' },
  { name: 'date' },
  { name: 'float32' },
]

/** Texts that become a number lose how they are written. */
const values: Readonly<Record<string, readonly unknown[]>> = {
  int32: [1, 2, null],
  int64: [2, 1, null],
  string: ['01', '2', null],
  boolean: [true, false, null],
  date: ['2026-01-31', '1999-12-31', null],
  float32: [0.5, 1.5, null],
}

it.each(firstOf(Object.keys(places) as Place[], 1))(
  'do what their dry run says, and are taken back by what it says, on %s',
  { timeout: 900_000 },
  async (place) => {
    const seed = Number(process.env.SERVICE_TEST_SEED)
    console.log(`effects of migrations: SERVICE_TEST_SEED=${seed}`)
    const throws = fc.tuple(anyThrows({ minLength: 8, maxLength: 14 }), anyThrows({ minLength: 4, maxLength: 12 }))
    const seen = new Map<string, number>()
    const see = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
    const cases = casesOr(place === 'PostgreSQL' ? 300 : 100, { share: 1 / 50 })
    const made = await client.workspace(`effects_${place.toLowerCase()}`)
    const { workspace, close } = await places[place].open(client, made)

    for (const [first, then] of fc.sample(throws, { numRuns: cases, seed })) {
      await tryMigration(workspace, place, { first, then }, see)
      await empty(workspace)
    }
    await close()

    console.log(Object.fromEntries(seen))
    // A few cases may miss one of these.
    const told = ['rows', 'views', 'tests', 'refused', 'policies', 'inverse', 'no inverse', 'data']
    expect(cases < 300 ? [] : told.filter((what) => !seen.has(what))).toEqual([])
  },
)

/** Views and tests go with their collections. */
async function empty(workspace: Workspace): Promise<void> {
  const path = `/api/${workspace.apiName}`
  const { data } = (await client.send('GET', `${path}/policies?limit=0`)).body as { data: readonly Named[] }
  for (const { id } of data) await client.send('DELETE', `${path}/policies/${id}`)
  const { collections, relationFields, namespaces } = (await storedModel(database, workspace)).records
  const pairs = relationFields.filter(({ constraintId }) => constraintId !== null)
  const emptied = await migrate(
    client,
    workspace,
    ...pairs.map(({ id, oppositeRelationFieldId }) => ({
      kind: 'deleteRelationFieldPair',
      data: { firstFieldId: id, secondFieldId: oppositeRelationFieldId },
    })),
    ...collections.map(({ id }) => ({ kind: 'deleteCollection', data: { id } })),
    ...namespaces
      .filter(({ dbName }) => /_[xy]$/.test(dbName))
      .map(({ id }) => ({ kind: 'deleteNamespace', data: { id } })),
  )
  expect(emptied.status, JSON.stringify(emptied.body)).toBe(200)
}

async function tryMigration(
  workspace: Workspace,
  place: Place,
  { first, then }: { readonly first: readonly Throw[]; readonly then: readonly Throw[] },
  see: (what: string) => void,
): Promise<void> {
  const path = `/api/${workspace.apiName}`
  const own = (records: ModelRecords) => randomOptions(workspace, records)
  const attached = {
    sourceId: workspace.sourceId,
    context: { workspace: workspace.apiName, dialectOf: () => places[place].dialect, dataNamespaceOf: () => null },
    namespaceNames: [],
  }
  const options = (records: ModelRecords) => ({
    ...(place === 'PostgreSQL' ? own(records) : attached),
    typesOf: () => types.map((type) => ({ type, isList: false })),
  })
  const send = async (method: string, rest: string, body?: unknown) => {
    const answer = await client.send(method, path + rest, body)
    return { ...answer, data: (answer.body as { readonly data?: unknown } | undefined)?.data }
  }
  const list = async (rest: string) => (await send('GET', rest)).data as readonly Named[]
  const dryRun = (operations: readonly object[]) => send('POST', '/schema/migrate?dryRun=true', { operations })
  /** A database may refuse what it was not asked; MariaDB has no way back from there but an import. */
  const isDone = async (made: Answer, takesTwin = false) => {
    const known = takesTwin ? /"30(05|13)"/ : /"3013"/
    const isRefused = made.status !== 200 && (place === 'MariaDB' || known.test(JSON.stringify(made.body)))
    if (isRefused && place === 'MariaDB') await introspect(client, workspace)
    expect(isRefused || made.status === 200, JSON.stringify(made.body)).toBe(true)
    return !isRefused
  }
  const possible = async (wanted: readonly object[]) => {
    const operations: object[] = []
    for (const one of wanted) if ((await dryRun([...operations, one])).status === 200) operations.push(one)
    return operations
  }
  const rowsOf = async ({ collections, primitiveFields }: ModelRecords) => {
    const all = new Map<string, readonly Readonly<Record<string, unknown>>[]>()
    for (const { id, apiName } of collections) {
      const fields = primitiveFields.filter((one) => one.collectionId === id)
      const rows = (await send('GET', `/items/${apiName}?limit=0`)).data as readonly Readonly<Record<string, unknown>>[]
      const byId = rows.map((row) => Object.fromEntries(fields.map((one) => [one.id, row[one.apiName]])))
      all.set(
        id,
        byId.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
      )
    }
    return all
  }

  const empty = (await storedModel(database, workspace)).records
  await isDone(
    await migrate(client, workspace, ...(await possible(applyThrows(empty, first, options(empty)).operations))),
  )
  const { records } = await storedModel(database, workspace)
  for (const [at, { id, apiName }] of records.collections.entries()) {
    const fields = records.primitiveFields.filter(({ collectionId }) => collectionId === id)
    // Some are refused for what they refer to, or are not unique.
    for (const row of [0, 1, 2]) await send('POST', `/items/${apiName}`, [rowOf(fields, row)])
    const [some, other] = [fields[at % fields.length], fields[(at + 1) % fields.length]]
    if (some === undefined || other === undefined) continue
    for (const query of [
      { fields: [some.apiName], sort: [{ [some.apiName]: { direction: 'asc' } }] },
      {
        filter: {
          [other.apiName]:
            other.type.name === 'string' ? { _starts_with: '0' } : { _neq: values[other.type.name]?.[0] },
        },
      },
    ]) {
      await send('POST', '/items/ServiceView', [{ name: `view ${apiName}`, collectionId: id, query }])
    }
    const filter = { [some.apiName]: { _null: false } }
    const allowed = { fields: [some.apiName], ...(some.isNullable && { filter }) }
    if (at % 3 === 0) {
      const content = { collections: { [apiName]: { read: allowed } } }
      const kept = await send('POST', '/policies', { name: `policy ${apiName}`, content })
      expect(kept.status, JSON.stringify(kept.body)).toBe(201)
    }
    const test = { as: 'anonymous', collection: apiName, action: 'read', expect: { allowed: false } }
    await send('POST', '/access/tests', { name: `test ${apiName}`, ...test, field: other.apiName })
  }
  const before = (await storedModel(database, workspace)).records
  const rows = await rowsOf(before)
  const views = (await list('/items/ServiceView?limit=0')) as readonly (Named & View)[]
  const policies = (await list('/policies?limit=0')) as readonly (Named & Policy)[]
  const answered = async (view: View, model: ModelRecords) => {
    const of = model.collections.find(({ id }) => id === view.collectionId)
    return of !== undefined && (await send('QUERY', `/items/${of.apiName}`, view.query)).status === 200
  }
  const working: (Named & View)[] = []
  for (const view of views) if (await answered(view, before)) working.push(view)
  const tests = await list('/access/tests')
  const wanted = [...renames(before, then), ...applyThrows(before, then.map(asChange), options(before)).operations]
  const told = []
  for (const one of wanted) {
    const refused = await dryRun([one])
    const named = (refused.body as { source?: { meta?: { policies?: readonly Named[] } } }).source?.meta?.policies
    if (named !== undefined) told.push({ operation: one as Operation, named })
  }
  const operations = (await possible(wanted)) as readonly Operation[]
  const run = (await dryRun(operations)).data as DryRun

  const made = await migrate(client, workspace, ...operations)
  const after = (await storedModel(database, workspace)).records

  if (!(await isDone(made, takesTwin(operations, before)))) return see('refused meanwhile')
  expect(told.map(({ named }) => named.map(({ name }) => name).sort())).toEqual(
    told.map(({ operation }) => namesOf(operation, { policies, before })),
  )
  if (told.length > 0) see('refused')
  expect(inOrder(run.rows)).toEqual(inOrder(touched(operations, { before, rows })))
  if (run.rows.length > 0) see('rows')
  const broken = []
  for (const view of working) if (!(await answered(view, after))) broken.push(view.id)
  const unanswered = views.filter(
    (view) => !working.includes(view) && !after.collections.some(({ id }) => id === view.collectionId),
  )
  expect(idsOf(run.breaks.views)).toEqual([...broken, ...unanswered.map(({ id }) => id)].sort())
  if (broken.length > 0) see('views')
  const stay = new Set((await list('/access/tests')).map(({ id }) => id))
  expect(idsOf(run.breaks.tests)).toEqual(idsOf(tests.filter(({ id }) => !stay.has(id))))
  if (run.breaks.tests.length > 0) see('tests')
  const compared = comparing({ policies, before, after })
  // What actions of relations do reaches far; it is tested beside what an editor is refused.
  const isRelating = operations.some(({ kind }) => /^(create|update)RelationFieldPair$/.test(kind))
  const others = run.breaks.policies.filter(({ name }) => !compared.includes(name))
  expect(run.breaks.policies.length - others.length).toBe(compared.length)
  if (!isRelating) expect(others).toEqual([])
  if (run.breaks.policies.length > 0) see('policies')
  expect(idsOf(await list('/policies?limit=0'))).toEqual(idsOf(policies))
  if (run.inverse === null) return see('no inverse')

  const back = await migrate(client, workspace, ...run.inverse)
  const again = (await storedModel(database, workspace)).records

  expect(back.status, JSON.stringify([back.body, operations, run.inverse])).toBe(200)
  expect(inOrderById(again)).toEqual(inOrderById(before))
  see('inverse')
  if (!run.restoresData) return
  expect(Object.fromEntries(await rowsOf(again))).toEqual(Object.fromEntries(rows))
  if ([...rows.values()].some((all) => all.length > 0) && operations.length > 0) see('data')
}

/** Whether an index goes of whose columns there is another: PostgreSQL alone knows which of the two a foreign key uses. */
function takesTwin(operations: readonly Operation[], { indexes }: ModelRecords): boolean {
  const changes = operations.flatMap(({ data }) => data.operations ?? [])
  const gone = changes.flatMap(({ kind, data }) => (kind === 'deleteIndex' ? [data.id] : []))
  return indexes.some(
    ({ id, fieldIds, collectionId }) =>
      gone.includes(id) &&
      indexes.some(
        (other) =>
          other.id !== id &&
          other.collectionId === collectionId &&
          other.fieldIds.toSorted().join() === fieldIds.toSorted().join(),
      ),
  )
}

/** Of two in three: what takes away or changes what there is. */
function asChange([kind, ...numbers]: Throw): Throw {
  return [kind % 3 === 0 ? kind : CREATIONS + (kind % CHANGES), ...numbers]
}

/** In the order of the kinds of random operations. */
const CREATIONS = 17
const CHANGES = 12

/** Of what the API calls a field or collection, which random operations leave alone. */
function renames({ collections, primitiveFields }: ModelRecords, [[, a, b, c, d] = [0, 0, 0, 0, 0]]: readonly Throw[]) {
  const field = primitiveFields[b % Math.max(primitiveFields.length, 1)]
  const collection = collections[c % Math.max(collections.length, 1)]
  const rename = (apiName: string) => ({ kind: 'changeApiName', data: { apiName } })
  const ofField = field && {
    id: field.collectionId,
    operations: [{ kind: 'updatePrimitiveField', data: { id: field.id, operations: [rename(`renamed_${a}`)] } }],
  }
  const ofCollection = collection && { id: collection.id, operations: [rename(`renamed_${d}`)] }
  return [...(a % 2 === 0 ? [ofField] : []), ...(d % 3 === 0 ? [ofCollection] : [])].flatMap((data) =>
    data === undefined ? [] : [{ kind: 'updateCollection', data }],
  )
}

type View = { readonly collectionId: string; readonly query: object }
type Policy = {
  readonly content: { readonly collections: Readonly<Record<string, { read: { fields: string[]; filter?: object } }>> }
}
type Rows = ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]>

function rowOf(fields: readonly PrimitiveFieldRecord[], row: number): object {
  const given = fields.filter(({ defaultValue }) => defaultValue === null)
  return Object.fromEntries(
    given.map(({ apiName, type, isNullable }, at) => [
      apiName,
      values[type.name]?.[isNullable ? (row + at) % 3 : row % 2],
    ]),
  )
}

const idsOf = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id).sort()
const inOrder = (all: readonly { readonly collection: string }[]) =>
  all.toSorted((one, other) => (one.collection < other.collection ? -1 : 1))
const inOrderById = (records: ModelRecords) =>
  Object.fromEntries(
    Object.entries(records).map(([kind, all]) => [
      kind,
      (all as readonly { readonly id: string }[]).toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    ]),
  )

/** Stored types have their members in any order. */
function typeText(type: FieldType | undefined): string {
  const length = type?.name === 'string' && type.params.length === 'fixed' ? type.params.value : ''
  return `${type?.name} ${length}`
}

/** Of the rows that were there: those of a collection that goes or gets a required field, and those with a value in a field that goes or is of another type. */
function touched(
  operations: readonly Operation[],
  { before, rows }: { readonly before: ModelRecords; readonly rows: Rows },
) {
  return before.collections.flatMap(({ id, apiName }) => {
    const of = operations.filter(({ kind, data }) => /^(update|delete)Collection$/.test(kind) && data.id === id)
    const changes = of.flatMap(({ data }) => data.operations ?? [])
    const isGone = of.some(({ kind }) => kind === 'deleteCollection')
    const had = new Map(before.primitiveFields.map((field) => [field.id, field]))
    const ids = (kind: string, isOther: (change: Operation) => boolean) =>
      changes.flatMap((change) =>
        change.kind === kind && had.has(change.data.id ?? '') && isOther(change) ? (change.data.id ?? '') : [],
      )
    const gone = ids('deletePrimitiveField', () => true)
    const retyped = ids('updatePrimitiveField', ({ data }) =>
      (data.operations ?? []).some(
        (one) => one.kind === 'changeType' && typeText(one.data.type) !== typeText(had.get(data.id ?? '')?.type),
      ),
    )
    const isWhole =
      isGone ||
      changes.some(
        ({ kind, data }) => kind === 'createPrimitiveField' && !(data as { isNullable?: boolean }).isNullable,
      )
    if (!isWhole && gone.length + retyped.length === 0) return []
    const all = rows.get(id) ?? []
    const some = all.filter((row) => [...gone, ...retyped].some((field) => row[field] !== null))
    return [{ collection: apiName, rows: (isWhole ? all : some).length, destroys: isGone || gone.length > 0 }]
  })
}

/** The policies that name the collection or field that an operation deletes. */
function namesOf(
  { kind, data }: Operation,
  { policies, before }: { readonly policies: readonly (Named & Policy)[]; readonly before: ModelRecords },
) {
  const of = before.collections.find(({ id }) => id === data.id)?.apiName ?? ''
  const gone = (data.operations ?? []).flatMap((one) => (one.kind === 'deletePrimitiveField' ? [one.data.id] : []))
  const fields = before.primitiveFields.filter(({ id }) => gone.includes(id)).map(({ apiName }) => apiName)
  return policies
    .filter(({ content: { collections } }) => {
      const named = collections[of]?.read.fields
      return named !== undefined && (kind === 'deleteCollection' || named.some((name) => fields.includes(name)))
    })
    .map(({ name }) => name)
    .sort()
}

/** The policies that compare a field of another type or default. */
function comparing({
  policies,
  before,
  after,
}: {
  readonly policies: readonly (Named & Policy)[]
  readonly before: ModelRecords
  readonly after: ModelRecords
}) {
  const then = new Map(after.primitiveFields.map((field) => [field.id, field]))
  const isNumber = ({ name }: FieldType) => name.startsWith('int')
  const other = before.primitiveFields.filter((field) => {
    const now = then.get(field.id) ?? field
    const isAlike = now.type.name === field.type.name || (isNumber(now.type) && isNumber(field.type))
    return !isAlike || JSON.stringify(now.defaultValue) !== JSON.stringify(field.defaultValue)
  })
  return policies
    .filter(({ content: { collections } }) =>
      Object.entries(collections).some(([name, { read }]) => {
        const id = before.collections.find(({ apiName }) => apiName === name)?.id
        return other.some(
          (field) => field.collectionId === id && read.filter !== undefined && read.fields.includes(field.apiName),
        )
      }),
    )
    .map(({ name }) => name)
    .sort()
}
