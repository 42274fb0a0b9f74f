/** Laws of the manifest: it tells the whole model, and of the planner's rules no more and no less than there is. */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fullAccess, type Viewer } from '../../../src/core/access/access.ts'
import { type ErrorBody, errorBody, ServiceError } from '../../../src/core/error.ts'
import { compileManifest } from '../../../src/core/manifest.ts'
import type { Collection, Field, Model, ModelRecords, PrimitiveField } from '../../../src/core/model/model.ts'
import { operators, operatorsAtPath } from '../../../src/core/model/vocabulary.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { planList } from '../../../src/core/plan/read.ts'
import { planCreate, planUpdateOne } from '../../../src/core/plan/write.ts'
import type { ReadQuery } from '../../../src/core/query/parse.ts'
import { anyModel } from './any-model.ts'
import { type ReadBack, readBack } from './read-back.ts'

const nothingAsked: ReadQuery = {
  fields: ['id'],
  filter: undefined,
  sort: [],
  limit: undefined,
  offset: 0,
  start: undefined,
  withCursors: false,
  deep: new Map(),
  totalCount: false,
  totalEstimate: false,
  max: undefined,
  conflict: undefined,
}

it('can be read back as the model that it was made of', () => {
  fc.assert(
    fc.property(anyModel(), (model) => {
      const { records } = readBack(atOnce(compileManifest(model)))

      expect(sorted(records)).toEqual(sorted(model.records))
    }),
  )
})

it('is whole for any part of the collections', () => {
  fc.assert(
    fc.property(
      anyModel().chain((model) =>
        fc.tuple(fc.constant(model), fc.shuffledSubarray([...model.collections.values()], { minLength: 1 })),
      ),
      ([model, part]) => {
        const { records } = readBack(atOnce(compileManifest(model, undefined, new Set(part))))
        const ids = new Set(part.map(({ id }) => id))

        expect(new Set(records.collections.map(({ id }) => id))).toEqual(ids)
        const shown = part.flatMap(({ relations }) => relations.filter(({ target }) => ids.has(target.id)))
        expect(new Set(records.relationFields.map(({ id }) => id))).toEqual(new Set(shown.map(({ id }) => id)))
      },
    ),
  )
})

it('names exactly the filter operators that a read takes', () => {
  fc.assert(
    fc.property(anyModel(), (model) => {
      const manifest = readBack(atOnce(compileManifest(model)))
      const asked = primitives(model).flatMap(([collection, field]) =>
        [...operators, '_regex'].map((operator) => {
          const value = { [field.apiName]: { ...placeOf(field, operator), [operator]: 'x' } }
          const refused = refusal(() => read(collection, { filter: { form: 'text', value } }))
          return [collection.apiName, field.apiName, operator, !isStructural(refused)]
        }),
      )

      const told = primitives(model).flatMap(([collection, field]) =>
        [...operators, '_regex'].map((operator) => [
          collection.apiName,
          field.apiName,
          operator,
          operator in filterOf(manifest, collection, field),
        ]),
      )
      expect(told).toEqual(asked)
    }),
  )
})

it('names exactly the fields that a read sorts by', () => {
  fc.assert(
    fc.property(anyModel(), (model) => {
      const manifest = readBack(atOnce(compileManifest(model)))

      for (const [collection, field] of primitives(model)) {
        const sort = [{ names: [field.apiName], direction: 'asc', nulls: undefined }] as const
        const isTold = field.apiName in (manifest.inputs.get(`${collection.apiName}SortSpecifier`)?.fields ?? {})
        expect(isTold).toBe(refusal(() => read(collection, { sort })) === undefined)
      }
    }),
  )
})

it('makes an item of what it calls required, and of nothing less', () => {
  fc.assert(
    fc.property(anyModel(), (model) => {
      const manifest = readBack(atOnce(compileManifest(model)))

      for (const collection of writable(model)) {
        const body = leastItem(manifest, collection)
        expect(refusal(() => create(collection, body))).toBeUndefined()
        for (const name of Object.keys(body)) {
          const { [name]: _, ...less } = body
          expect(refusal(() => create(collection, less))).toEqual([
            'Failed to execute query',
            `[0].${name}`,
            'is required',
          ])
        }
      }
    }),
  )
})

it('takes on create and on update the fields that it names, and no others', () => {
  fc.assert(
    fc.property(anyModel(), (model) => {
      const manifest = readBack(atOnce(compileManifest(model)))

      for (const [collection, field] of primitives(model)) {
        if (collection.isReadOnly) continue
        const body = { [field.apiName]: sample(field) }
        const item = { ...leastItem(manifest, collection), ...body }
        expect(refusal(() => create(collection, item)) === undefined).toBe(
          field.apiName in (manifest.inputs.get(`${collection.apiName}CreateInput`)?.fields ?? {}),
        )
        if (collection.key.length === 0) continue
        expect(refusal(() => update(collection, body)) === undefined).toBe(
          field.apiName in (manifest.inputs.get(`${collection.apiName}UpdateDataInput`)?.fields ?? {}),
        )
      }
    }),
  )
})

it('names exactly the operations that each relation takes', () => {
  fc.assert(
    fc.property(anyModel(), (model) => {
      const manifest = readBack(atOnce(compileManifest(model)))

      for (const collection of writable(model).filter(({ key }) => key.length > 0)) {
        for (const relation of collection.relations.filter(({ target }) => target.key.length > 0)) {
          const suffix = relation.isList ? 'UpdateManyRelatedOperationsInput' : 'UpdateOneRelatedOperationsInput'
          const columns = new Set(relation.joins.map(({ own }) => own.apiName))
          const item = Object.entries(leastItem(manifest, collection))
          const rest = Object.fromEntries(item.filter(([name]) => !relation.isForward || !columns.has(name)))
          const stem = `${collection.apiName}${relation.apiName}`
          const onUpdate = manifest.inputs.get(stem + suffix)?.fields ?? {}
          const onCreate = manifest.inputs.get(`${stem}CreateRelatedInput`)?.fields ?? {}
          for (const kind of ['_connect', '_create', '_update', '_disconnect', '_delete']) {
            const operation = { [kind]: contentOf(kind, relation.isList) }
            const changing = refusal(() => update(collection, { [relation.apiName]: [operation] }))
            const value = relation.isList ? [operation] : operation
            const making = refusal(() => create(collection, { ...rest, [relation.apiName]: value }))
            expect([relation.id, kind, kind in onUpdate]).toEqual([relation.id, kind, !isStructural(changing)])
            expect([relation.id, kind, kind in onCreate]).toEqual([relation.id, kind, !isStructural(making)])
          }
        }
      }
    }),
  )
})

const administrator: Viewer = { accessTo: () => fullAccess, seesModel: true }
const generators = { uuid: () => '00000000-0000-4000-8000-000000000000', now: () => '2026-01-01T00:00:00Z' }

function read(collection: Collection, query: Partial<ReadQuery>): void {
  planList(readContext(collection), { ...nothingAsked, ...query })
}

function create(collection: Collection, body: object): void {
  atOnce(planCreate(writeRequest(collection), [body], 1))
}

function update(collection: Collection, body: object): void {
  atOnce(planUpdateOne(writeRequest(collection), body, { kind: 'value', value: '1' }))
}

function readContext(collection: Collection) {
  return {
    viewer: administrator,
    collection,
    access: fullAccess,
    limits: { default: 100, max: 100 },
    maxRows: Number.POSITIVE_INFINITY,
  }
}

function writeRequest(collection: Collection) {
  return { viewer: administrator, collection, generators, read: readContext(collection), query: () => nothingAsked }
}

/** The messages of what `work` throws, outermost first. */
function refusal(work: () => void): readonly string[] | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof ServiceError) return messages(errorBody(error))
    throw error
  }
}

function messages({ message, source }: ErrorBody): readonly string[] {
  return source === undefined ? [message] : [message, ...messages(source)]
}

/** What JSON is compared by stands beside a path. */
function placeOf({ type, isList }: PrimitiveField, operator: string): object {
  const isBeside = type.name === 'json' && !isList && (operatorsAtPath as readonly string[]).includes(operator)
  return isBeside ? { _path: ['a'] } : {}
}

/** Whether something was refused for what it is, and not for the values it came with. */
function isStructural(refused: readonly string[] | undefined): boolean {
  const last = refused?.at(-1) ?? ''
  return /^is not an operat|^is only for nullable|^is read-only/.test(last)
}

function primitives(model: Model): readonly (readonly [Collection, PrimitiveField])[] {
  return [...model.collections.values()].flatMap((collection) =>
    collection.primitives.map((field) => [collection, field] as const),
  )
}

function writable(model: Model): readonly Collection[] {
  return [...model.collections.values()].filter(({ isReadOnly }) => !isReadOnly)
}

function filterOf({ inputs }: ReadBack, collection: Collection, field: Field): Readonly<Record<string, string>> {
  const type = inputs.get(`${collection.apiName}FilterInput`)?.fields[field.apiName]
  return inputs.get(type?.split(' ')[0] ?? '')?.fields ?? {}
}

/** An item with what the manifest requires; foreign keys by their columns. */
function leastItem({ inputs }: ReadBack, collection: Collection): Readonly<Record<string, unknown>> {
  const input = inputs.get(`${collection.apiName}CreateInput`)
  const { atLeastOneOf = [] } = (input?.constraints ?? {}) as { atLeastOneOf?: readonly (readonly string[])[] }
  const foreignKeys = new Set(atLeastOneOf.map(([column]) => column))
  return Object.fromEntries(
    collection.primitives
      .filter(({ apiName }) => foreignKeys.has(apiName) || /^\S+$/.test(input?.fields[apiName] ?? ' '))
      .map((field) => [field.apiName, sample(field)]),
  )
}

function sample({ type, isList }: PrimitiveField): unknown {
  return isList ? [samples[type.name]] : samples[type.name]
}

const samples: Readonly<Record<string, unknown>> = {
  int32: 1,
  int64: '1',
  float64: 1.5,
  uuid: '00000000-0000-4000-8000-000000000000',
  boolean: true,
  date: '2026-01-01',
  json: {},
  bytes: 'AAAA',
  geometry: { type: 'Point', coordinates: [1, 2] },
  string: 'text',
  decimal: '1.5',
}

function contentOf(kind: string, isList: boolean): object {
  if (kind === '_connect') return isList ? { keys: [{ id: '1' }] } : { key: { id: '1' } }
  if (kind === '_create') return { data: isList ? [{}] : {} }
  return kind === '_update' ? { data: {} } : {}
}

function sorted(records: ModelRecords): unknown {
  return Object.fromEntries(
    Object.entries(records).map(([name, list]) => [
      name,
      [...list].sort((one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)),
    ]),
  )
}
