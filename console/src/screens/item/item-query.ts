/** One item, as it is stored. */
import { pathTo } from '../../app/router.ts'
import type { Query } from '../../data/queries.ts'
import { itemsOf, keyInPath, requestedFields } from '../grid/items.ts'
import type { CollectionModel } from '../grid/model.ts'
import { parse, type Row } from '../grid/values.ts'

export type ItemPlace = {
  readonly workspace: string
  readonly model: CollectionModel
  /** A text for each field of its key. */
  readonly itemKey: readonly string[]
}

export const itemQuery = ({ workspace, model, itemKey }: ItemPlace): Query<Row> => ({
  queryKey: ['item', workspace, model.name, ...itemKey],
  queryFn: () =>
    itemsOf(workspace, model)
      .get(keyInPath(itemKey), { fields: requestedFields(model) })
      .orThrow(),
  enabled: isAddress({ model, itemKey }),
  staleTime: 0,
})

/** Whether an item can have such a key. */
export function isAddress({ model, itemKey }: Pick<ItemPlace, 'model' | 'itemKey'>): boolean {
  const fits = (name: string, at: number) => {
    const field = model.fields.find((one) => one.name === name)
    const text = itemKey[at] ?? ''
    return field !== undefined && 'value' in parse(field, text) && isInRange(field.type, text)
  }
  return model.key.length === itemKey.length && model.key.every(fits)
}

/** Whether a whole number has room in its type; others have no range. */
function isInRange(type: string, text: string): boolean {
  const [, unsigned, bits] = /^(u?)int(\d+)$/.exec(type) ?? []
  if (bits === undefined) return true
  const as = unsigned ? BigInt.asUintN : BigInt.asIntN
  return as(Number(bits), BigInt(text)) === BigInt(text)
}

/** The parameter that names the item which a new one is begun like. */
export const COPY = 'copy'

/** Where an item is begun with the values of another. */
export function copyPath(workspace: string, collection: string, itemKey: readonly string[]): string {
  return `${pathTo(workspace, 'new', collection)}?${new URLSearchParams({ [COPY]: JSON.stringify(itemKey) })}`
}

/** The key of it; undefined of one that begins empty. */
export function copiedIn(parameters: URLSearchParams): readonly string[] | undefined {
  try {
    const key: unknown = JSON.parse(parameters.get(COPY) ?? 'null')
    return Array.isArray(key) ? key.map(String) : undefined
  } catch {
    return undefined
  }
}
