/** The items of a collection that the compiler knows nothing of. */
import { clientOf } from '../../data/client.ts'
import type { CollectionModel } from './model.ts'
import { fieldsOf } from './request.ts'
import type { Row } from './values.ts'

export type Call<T> = { orThrow(): Promise<T> }

type Items = {
  list(query: object): Call<readonly Row[]>
  get(key: unknown, query: object): Call<Row>
  create(data: object, query: object): Call<Row | undefined>
  update(key: unknown, data: object, query: object): Call<Row>
  delete(key: unknown, query: object): Call<void>
}

export function itemsOf(workspace: string, { name }: CollectionModel): Items {
  return clientOf(workspace)[name] as unknown as Items
}

/** A key as the client takes it. */
export function keyInPath(key: readonly unknown[]): unknown {
  return key.length === 1 ? key[0] : key
}

/** All that is shown of an item, as the client takes it: `author.name` is `{author: ['name']}`. */
export function requestedFields(model: CollectionModel): readonly unknown[] {
  return fieldsOf(model).map((field) => {
    const [relation = '', name] = field.split('.')
    return name === undefined ? field : { [relation]: [name] }
  })
}

/** As many operations a batch takes. */
const MOST_OF_BATCH = 100

/** All or none, in the order of the calls. */
export function batchOf<T>(workspace: string, calls: readonly Call<T>[]): Promise<readonly T[]> {
  const [only] = calls
  if (calls.length === 1 && only !== undefined) return only.orThrow().then((answer) => [answer])
  return clientOf(workspace)
    .$batch(calls as never)
    .orThrow() as Promise<readonly T[]>
}

/** Conditions that the filter of one request may have, and some to spare. */
const CONDITIONS = 180

/** The items of these keys as they are now; those that are gone are left out. */
export async function readItems(
  workspace: string,
  model: CollectionModel,
  keys: readonly (readonly unknown[])[],
): Promise<readonly Row[]> {
  const [name = '', ...others] = model.key
  const most = others.length === 0 ? MOST_OF_BATCH : Math.floor(CONDITIONS / model.key.length)
  const fields = requestedFields(model)
  const found: Row[] = []
  for (const piece of piecesOf(keys, most)) {
    const filter =
      others.length === 0
        ? { [name]: { _in: piece.map(([value]) => value) } }
        : { _or: piece.map((key) => ({ _and: model.key.map((part, at) => ({ [part]: { _eq: key[at] } })) })) }
    found.push(...(await itemsOf(workspace, model).list({ fields, filter, limit: piece.length }).orThrow()))
  }
  return found
}

/** In pieces that a batch takes. */
export function piecesOf<T>(all: readonly T[], most = MOST_OF_BATCH): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, at) => all.slice(at * most, (at + 1) * most))
}
