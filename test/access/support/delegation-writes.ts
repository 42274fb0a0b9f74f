/** Writes of one row each, and of one link, by which rights are compared. */
import fc, { type Arbitrary } from 'fast-check'
import type { Row } from '../../property/support/rows.ts'
import { anyValue, junction, membersOf, names, shop, type Way, ways } from './library.ts'
import type { Write } from './writes.ts'

export const base = '/api/shop/items'

export const anyPlainWrite: Arbitrary<Write> = fc.constantFrom(...names).chain((collection): Arbitrary<Write> => {
  const fields = membersOf(collection).filter((name) => shopFields.has(`${collection}.${name}`) && name !== 'id')
  const body = (least: number) =>
    fc.subarray(fields, { minLength: least }).chain((chosen) => {
      const values = Object.fromEntries(chosen.map((name) => [name, anyValue(collection, name)]))
      return fc.record(values) as Arbitrary<Row>
    })
  const key = fc.integer({ min: 1, max: 5 })
  if (collection === junction.name) return anyWriteOfLinks
  return fc.oneof(
    body(fields.length).map(
      (item): Write => ({ collection, request: {}, kind: 'create', items: [{ id: 77, ...item }] }),
    ),
    ...ways.filter(({ of }) => of === collection).map(anyWriteThrough),
    fc.tuple(key, body(1)).map(([id, item]): Write => {
      const [first] = Object.entries(item)
      return { collection, request: {}, kind: 'updateOne', key: id, body: Object.fromEntries(first ? [first] : []) }
    }),
    key.map((id): Write => ({ collection, request: {}, kind: 'deleteOne', key: id })),
  )
})

/** Of one link of the junction, by itself. */
const anyWriteOfLinks: Arbitrary<Write> = fc
  .record({ personId: fc.integer({ min: 1, max: 5 }), postId: fc.integer({ min: 1, max: 5 }) })
  .chain((pair) => {
    const base = { collection: junction.name, request: { filter: pair } }
    return fc.oneof(
      anyValue(junction.name, 'mark').map(
        (mark): Write => ({ ...base, request: {}, kind: 'create', items: [{ ...pair, mark }] }),
      ),
      anyValue(junction.name, 'mark').map((mark): Write => ({ ...base, kind: 'updateMany', body: { mark } })),
      fc.constant<Write>({ ...base, kind: 'deleteMany' }),
    )
  })

/** Through a many-to-many field. */
function anyWriteThrough({ of, name }: Way): Arbitrary<Write> {
  const key = fc.integer({ min: 1, max: 5 })
  const operation = fc.oneof(
    key.map((id) => ({ _connect: { keys: [{ id }] } })),
    key.map((id) => ({ _disconnect: { filter: { id } } })),
  )
  return fc
    .tuple(key, operation)
    .map(([id, one]): Write => ({ collection: of, request: {}, kind: 'updateOne', key: id, body: { [name]: [one] } }))
}

const shopFields = new Set(
  names.flatMap((name) =>
    membersOf(name)
      .filter((member) => shop.fields.get(name)?.has(member) === true)
      .map((member) => `${name}.${member}`),
  ),
)

export function requestFor(write: Write): [method: string, path: string, body?: unknown] {
  const path = `${base}/${write.collection}`
  if (write.kind === 'upsert') return ['POST', `${path}?conflict[fields]=id&conflict[do]=${write.do}`, write.items]
  if (write.kind === 'create') return ['POST', path, write.items[0]]
  const filter = Object.entries(write.request.filter ?? {}).map(([name, value]) => `filter[${name}]=${value}`)
  if (write.kind === 'updateMany') return ['PATCH', `${path}?${filter.join('&')}`, write.body]
  if (write.kind === 'deleteMany') return ['DELETE', `${path}?${filter.join('&')}`]
  if (write.kind === 'updateEach') return ['PATCH', path, write.changes.map(({ key, body }) => ({ id: key, ...body }))]
  if (write.kind === 'updateOne') return ['PATCH', `${path}/${write.key}`, write.body]
  return ['DELETE', `${path}/${write.key}`]
}
