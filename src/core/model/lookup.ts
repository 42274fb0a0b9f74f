/**
 * The records of a model by what they are asked for. Made once for each state of a model: whoever plans a change asks for every
 * collection, and a walk over all records for each would grow with the square of the model.
 */
import { lazily } from '../lazily.ts'
import type {
  CollectionRecord,
  ConstraintRecord,
  IndexRecord,
  ModelRecords,
  PrimitiveFieldRecord,
  RelationFieldRecord,
} from './model.ts'

export type RecordLookup = {
  readonly collections: ReadonlyMap<string, CollectionRecord>
  readonly fields: ReadonlyMap<string, PrimitiveFieldRecord>
  readonly relations: ReadonlyMap<string, RelationFieldRecord>
  readonly constraints: ReadonlyMap<string, ConstraintRecord>
  readonly indexes: ReadonlyMap<string, IndexRecord>
  /** Of a collection by its id; none where the id is undefined. */
  readonly fieldsOf: (collectionId: string | undefined) => readonly PrimitiveFieldRecord[]
  readonly relationsOf: (collectionId: string | undefined) => readonly RelationFieldRecord[]
  readonly indexesOf: (collectionId: string | undefined) => readonly IndexRecord[]
  /** The indexes that contain any of the fields. */
  readonly indexesBy: (fieldIds: readonly string[]) => readonly IndexRecord[]
}

const lookups = new WeakMap<ModelRecords, RecordLookup>()

export function lookupOf(records: ModelRecords): RecordLookup {
  const known = lookups.get(records)
  if (known !== undefined) return known
  const made = createLookup(records)
  lookups.set(records, made)
  return made
}

/** Each is worked out when it is first asked for, which spreads the work over that of the askers. */
function createLookup(records: ModelRecords): RecordLookup {
  const collections = lazily(() => byId(records.collections))
  const fields = lazily(() => byId(records.primitiveFields))
  const relations = lazily(() => byId(records.relationFields))
  const constraints = lazily(() => byId(records.constraints))
  const indexes = lazily(() => byId(records.indexes))
  const fieldsOf = lazily(() => ofCollection(records.primitiveFields))
  const relationsOf = lazily(() => ofCollection(records.relationFields))
  const indexesOf = lazily(() => ofCollection(records.indexes))
  const indexesBy = lazily(() => containing(records.indexes, ({ fieldIds }) => fieldIds))
  return {
    get collections() {
      return collections()
    },
    get fields() {
      return fields()
    },
    get relations() {
      return relations()
    },
    get constraints() {
      return constraints()
    },
    get indexes() {
      return indexes()
    },
    fieldsOf: (id) => fieldsOf()(id),
    relationsOf: (id) => relationsOf()(id),
    indexesOf: (id) => indexesOf()(id),
    indexesBy: (ids) => indexesBy()(ids),
  }
}

export function byId<T extends { readonly id: string }>(records: readonly T[]): Map<string, T> {
  return new Map(records.map((record) => [record.id, record]))
}

function ofCollection<T extends { readonly collectionId: string }>(records: readonly T[]) {
  const groups = Map.groupBy(records, ({ collectionId }) => collectionId)
  return (collectionId: string | undefined): readonly T[] =>
    (collectionId === undefined ? undefined : groups.get(collectionId)) ?? []
}

/** Finds the ones that have any of some members, each once and in their order. */
export function containing<T>(all: readonly T[], membersOf: (one: T) => readonly string[]) {
  const having = new Map<string, T[]>()
  for (const one of all) {
    for (const member of new Set(membersOf(one))) {
      const known = having.get(member)
      if (known === undefined) having.set(member, [one])
      else known.push(one)
    }
  }
  return (members: readonly string[]): readonly T[] =>
    members.length === 1
      ? (having.get(members[0] ?? '') ?? [])
      : [...new Set(members.flatMap((member) => having.get(member) ?? []))]
}
