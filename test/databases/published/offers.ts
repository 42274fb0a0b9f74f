/** What a client learns from the manifest of a workspace, its pools resolved by docs/manifest.md. */
import type { CollectionEntry, Manifest, RelationFieldEntry } from '../../../src/core/manifest/format.ts'

export type OfferedField = {
  readonly apiName: string
  readonly dbName: string
  readonly type: string
  readonly isList: boolean
  readonly isNullable: boolean
  readonly isReadonly: boolean
  readonly operators: readonly string[]
  readonly isSorted: boolean
}

type Side = { readonly apiName: string; readonly isList: boolean }

export type OfferedRelation = {
  readonly apiName: string
  readonly target: string
  readonly isList: boolean
  /** Of a many-to-many field: the relation to the junction, and the one from there. */
  readonly through?: { readonly near: Side; readonly far: Side }
  /** Columns, own and opposite. */
  readonly linked: readonly (readonly [own: string, opposite: string])[]
}

export type Offered = {
  readonly apiName: string
  readonly namespace: string
  readonly dbName: string
  readonly fields: readonly OfferedField[]
  readonly relations: readonly OfferedRelation[]
  /** API names; empty where items have no address. */
  readonly key: readonly string[]
  readonly isWritten: boolean
}

export function readOffers(manifest: Manifest): readonly Offered[] {
  const { strings, primitiveTypes, serviceSchema, querySchema } = manifest
  const text = (index: number) => found(strings[index])
  const membersOf = (index: number) => {
    const { fields } = found(querySchema.inputObjectTypes[index])
    return new Map(
      fields.flatMap((one, at) =>
        at % 2 === 0 ? [[text(one), found(querySchema.inputFields[found(fields[at + 1])])] as const] : [],
      ),
    )
  }
  const below = (reference: string | undefined) => membersOf(Number(/i(\d+)/.exec(reference ?? '')?.[1] ?? Number.NaN))
  const kinds = new Map(querySchema.operations.map((one) => [`${one[0]} ${text(one[1])}`, one[2]]))

  function offered(entry: CollectionEntry): Offered {
    const apiName = text(entry.apiName)
    const reading = membersOf(found(kinds.get(`readMany ${apiName}`)))
    const filter = below(reading.get('filter')?.type)
    const sort = reading.has('sort') ? below(reading.get('sort')?.type) : new Map()
    const fields = entry.primitiveFields.map((field) => {
      const own = text(field.apiName)
      const { name } = found(primitiveTypes[field.type])
      const operators = filter.has(own) ? [...below(filter.get(own)?.type).keys()] : []
      return {
        apiName: own,
        dbName: text(field.dbName ?? field.apiName),
        type: name,
        isList: field.isList ?? false,
        isNullable: field.isNullable ?? false,
        isReadonly: field.isReadonly ?? false,
        operators,
        isSorted: sort.has(own),
      }
    })
    const primary = entry.indexes?.find(({ kind }) => kind === 'primary')
    return {
      apiName,
      namespace: entry.namespace === undefined ? '' : text(found(serviceSchema.namespaces[entry.namespace]).dbName),
      dbName: text(entry.dbName ?? entry.apiName),
      fields,
      relations: entry.relationFields.map((relation) => {
        const opposite = found(serviceSchema.collections[relation.oppositeCollection])
        const column = ({ primitiveFields }: CollectionEntry, index: number) => {
          const field = found(primitiveFields[index])
          return text(field.dbName ?? field.apiName)
        }
        return {
          apiName: text(relation.apiName),
          target: text(opposite.apiName),
          isList: relation.isList ?? false,
          ...(relation.through !== undefined && { through: throughOf(entry, relation.through) }),
          linked: relation.linkingFields.map(([own, other]) => [column(entry, own), column(opposite, other)] as const),
        }
      }),
      key: kinds.has(`readOne ${apiName}`) ? (primary?.fields ?? []).map((index) => found(fields[index]).apiName) : [],
      isWritten: kinds.has(`updateOne ${apiName}`),
    }
  }
  function throughOf({ relationFields }: CollectionEntry, { near, far }: { near: number; far: number }) {
    const first = found(relationFields[near])
    const second = found(found(serviceSchema.collections[first.oppositeCollection]).relationFields[far])
    const side = ({ apiName, isList }: RelationFieldEntry): Side => ({
      apiName: text(apiName),
      isList: isList ?? false,
    })
    return { near: side(first), far: side(second) }
  }

  return serviceSchema.collections.filter(({ isSystem }) => isSystem !== true).map(offered)
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an index of the manifest points nowhere')
  return value
}
