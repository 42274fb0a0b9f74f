/**
 * The same batch with `$ref` instead of keys: each key that an earlier operation has as well stands for the value there, so
 * that nothing but the way of the value differs.
 */
import type { Row } from '../../property/support/rows.ts'
import { links, type Name } from './library.ts'
import type { Write } from './writes.ts'

type Sent = { readonly kind: string; readonly key?: unknown; readonly data?: unknown }

export type Referring = { readonly operations: readonly object[]; readonly count: number }

/** `writes` has undefined for a read, which others do not refer to. */
export function withReferences(sent: readonly object[], writes: readonly (Write | undefined)[]): Referring {
  const known = new Map<number, string>()
  let count = 0
  const referTo = (value: unknown) => {
    const reference = typeof value === 'number' ? known.get(value) : undefined
    if (reference === undefined) return value
    count += 1
    return { $ref: reference }
  }
  const operations = sent.map((operation, index) => {
    const write = writes[index]
    if (write === undefined) return operation
    const { key, data, ...rest } = operation as Sent
    const own = {
      ...rest,
      ...(key !== undefined && { key: referTo(key) }),
      ...(data !== undefined && {
        data: referring(write.collection, data, { referTo, isKeyed: rest.kind === 'update' }),
      }),
    }
    for (const [value, place] of keysOf(write)) known.set(value, `o${index}${place}.id`)
    return { ...own, as: `o${index}` }
  })
  return { operations, count }
}

/** The keys that an operation certainly has, and where. */
function keysOf(write: Write): readonly (readonly [value: number, place: string])[] {
  const listed = (keys: readonly unknown[]) =>
    keys.flatMap((key, index) => (typeof key === 'number' ? [[key, `[${index}]`] as const] : []))
  switch (write.kind) {
    case 'create':
    case 'upsert':
      return listed(write.items.map(({ id }) => id))
    case 'updateEach':
      return listed(write.changes.map(({ key }) => key))
    case 'updateOne':
      return 'id' in write.body ? [] : [[write.key, '']]
    case 'deleteOne':
      return [[write.key, '']]
    default:
      return []
  }
}

type Replacing = { readonly referTo: (value: unknown) => unknown; readonly isKeyed: boolean }

function referring(collection: Name, data: unknown, replacing: Replacing): unknown {
  if (Array.isArray(data)) return data.map((item) => referringItem(collection, item as Row, replacing))
  return referringItem(collection, data as Row, { ...replacing, isKeyed: false })
}

function referringItem(collection: Name, item: Row, { referTo, isKeyed }: Replacing): Row {
  const columns = links.filter(({ child }) => child === collection).map(({ column }) => column)
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      if (columns.includes(name) || (name === 'id' && isKeyed)) return [name, referTo(value)]
      return [name, connected(value, referTo)]
    }),
  )
}

/** Keys of `_connect`, however deep. */
function connected(value: unknown, referTo: Replacing['referTo'], isKey = false): unknown {
  if (Array.isArray(value)) return value.map((one) => connected(one, referTo, isKey))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, own]) => {
      if (isKey && name === 'id') return [name, referTo(own)]
      const isBelow = name === '_connect' || (isKey && (name === 'key' || name === 'keys'))
      return [name, connected(own, referTo, isBelow)]
    }),
  )
}
