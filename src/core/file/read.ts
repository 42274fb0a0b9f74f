/** JSON → `ModelFile`: the form alone, without looking at any model. Faults name the place. */
import { exceedsLimits } from '../json-limits.ts'
import { issuePath } from '../message-text.ts'
import { keptNumbers } from '../model/codec/number.ts'
import { SYSTEM_SOURCE } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { readFieldText } from './field-text.ts'
import type {
  FileCollection,
  FileField,
  FileIndex,
  FileJunction,
  FileOver,
  FilePolicy,
  FilePrimitive,
  FileRelation,
  FileRole,
  ModelFile,
} from './file.ts'
import { junctionName } from './file.ts'
import { readShown } from './presentation/shown.ts'
import {
  fileFault,
  flagAt,
  isMembers,
  type Members,
  membersAt,
  oneOfAt,
  optionalText,
  textAt,
  textsAt,
  within,
} from './reading.ts'

/** Values of a file; twenty for each of a hundred thousand fields. */
const MAX_VALUES = 2_000_000

/** Fields of a collection, and indexes: no database has a table of more columns. */
const MAX_COLUMNS = 4_096

/** Roles, and policies. */
const MAX_ROLES = 4_096

const topMembers = ['$schema', 'version', 'sources', 'collections', 'names', 'roles', 'policies', 'ids']

/** Throws 422 with the place of the first fault. */
export function* readModelFile(value: unknown, place = 'model'): Parts<ModelFile> {
  const file = membersAt(value, place, topMembers)
  yield
  const excess = exceedsLimits(value, { values: MAX_VALUES })
  yield
  if (excess !== undefined) throw fileFault(place, excess)
  if (file.version !== 1) throw fileFault(`${place}.version`, file.version === undefined ? 'is required' : 'must be 1')
  const { sources, collections, names, roles, policies, ids } = file
  return {
    ...(sources !== undefined && { sources: yield* readEach(sources, `${place}.sources`, textAt) }),
    ...(collections !== undefined && {
      collections: yield* readEach(collections, `${place}.collections`, readCollection),
    }),
    ...(names !== undefined && { names: yield* readEach(names, `${place}.names`, readShown) }),
    ...(roles !== undefined && { roles: yield* readEach(roles, `${place}.roles`, readRole, MAX_ROLES) }),
    ...(policies !== undefined && { policies: yield* readEach(policies, `${place}.policies`, readPolicy, MAX_ROLES) }),
    ids: yield* readEach(ids ?? {}, `${place}.ids`, readId),
  }
}

function* readEach<T>(
  value: unknown,
  place: string,
  read: (value: unknown, place: string, name: string) => T,
  most = Number.POSITIVE_INFINITY,
): Parts<ReadonlyMap<string, T>> {
  const all = new Map<string, T>()
  const sent = Object.entries(membersAt(value, place))
  requireFew(sent, place, most)
  for (const [name, one] of sent) {
    yield
    all.set(name, read(one, within(place, name), name))
  }
  return all
}

function readId(value: unknown, place: string): string {
  const id = textAt(value, place).toLowerCase()
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) throw fileFault(place, 'must be a UUID')
  return id
}

const collectionMembers = [
  'fields',
  'key',
  'indexes',
  'source',
  'namespace',
  'dbName',
  'readOnly',
  'history',
  'renamedFrom',
]

function readCollection(value: unknown, place: string, name: string): FileCollection {
  const sent = membersAt(value, place, collectionMembers)
  const sentFields = Object.entries(membersAt(sent.fields, `${place}.fields`))
  requireFew(sentFields, `${place}.fields`)
  const fields = sentFields.map(
    ([field, one]) => [field, readField(one, within(`${place}.fields`, field), [name, field])] as const,
  )
  const indexes = sent.indexes ?? []
  if (!Array.isArray(indexes)) throw fileFault(`${place}.indexes`, 'must be an array')
  requireFew(indexes, `${place}.indexes`)
  return {
    fields: new Map(fields),
    key: sent.key === undefined ? ['id'] : textsAt(sent.key, `${place}.key`),
    indexes: indexes.map((one, at) => readIndex(one, `${place}.indexes[${at}]`)),
    source: optionalText(sent.source, `${place}.source`) ?? SYSTEM_SOURCE,
    namespace: optionalText(sent.namespace, `${place}.namespace`),
    dbName: optionalText(sent.dbName, `${place}.dbName`) ?? name,
    isReadOnly: flagAt(sent.readOnly, `${place}.readOnly`, false),
    hasHistory: flagAt(sent.history, `${place}.history`, false),
    renamedFrom: optionalText(sent.renamedFrom, `${place}.renamedFrom`),
  }
}

function requireFew(all: readonly unknown[], place: string, most = MAX_COLUMNS): void {
  if (all.length > most) throw fileFault(place, `must be at most ${most}`)
}

function readIndex(value: unknown, place: string): FileIndex {
  if (typeof value === 'string') return { ...readOn(value, place), dbName: undefined }
  const sent = membersAt(value, place, ['on', 'dbName'])
  return {
    ...readOn(textAt(sent.on, `${place}.on`), `${place}.on`),
    dbName: optionalText(sent.dbName, `${place}.dbName`),
  }
}

function readOn(text: string, place: string): Pick<FileIndex, 'isUnique' | 'on'> {
  const [, unique, names = ''] = /^(unique )?(.*)$/s.exec(text) ?? []
  const on = names.split(',').map((name) => name.trim())
  if (on.some((name) => !/^\w+$/.test(name))) {
    throw fileFault(place, 'must be names of fields with commas between them, after unique where no two may be alike')
  }
  if (new Set(on).size < on.length) throw fileFault(place, 'names a field twice')
  return { isUnique: unique !== undefined, on }
}

type Owner = readonly [collection: string, field: string]

function readField(value: unknown, place: string, owner: Owner): FileField {
  if (typeof value === 'string') return readPrimitive({ type: value }, place)
  const sent = membersAt(value, place)
  if ('to' in sent) return readRelation(sent, place, owner)
  if ('over' in sent) return readOver(sent, place, owner)
  if ('many' in sent) return readJunction(sent, place, owner)
  if ('type' in sent) return readPrimitive(sent, place)
  throw fileFault(place, 'must be a type, or an object with one of type, to, many')
}

const fillings = { auto: 'auto', always: 'always', update: 'update' } as const

function readPrimitive(value: unknown, place: string): FilePrimitive {
  const sent = membersAt(value, place, ['type', 'default', 'dbName', 'readOnly', 'renamedFrom'])
  const at = isMembers(value) && Object.keys(value).length === 1 ? place : `${place}.type`
  const text = readFieldText(textAt(sent.type, at))
  if (typeof text === 'string') throw fileFault(at, text)
  const isGiven = sent.default !== undefined && sent.default !== null
  if (isGiven && (text.filled === fillings.auto || text.filled === fillings.always)) {
    throw fileFault(`${place}.default`, `stands beside ${text.filled}, which gives a new item its value`)
  }
  return {
    kind: 'primitive',
    ...text,
    value: isGiven ? { of: sent.default } : undefined,
    dbName: optionalText(sent.dbName, `${place}.dbName`),
    isReadOnly: flagAt(sent.readOnly, `${place}.readOnly`, false),
    renamedFrom: optionalText(sent.renamedFrom, `${place}.renamedFrom`),
  }
}

const relationMembers = [
  'to',
  'opposite',
  'unique',
  'onDelete',
  'onUpdate',
  'by',
  'references',
  'constraint',
  'index',
  'renamedFrom',
] as const

const actions = ['noAction', 'cascade', 'restrict', 'setNull', 'setDefault'] as const

function readRelation(value: unknown, place: string, [collection]: Owner): FileRelation {
  const sent = membersAt(value, place, relationMembers)
  const to = textAt(sent.to, `${place}.to`)
  const { constraint } = sent
  if (constraint === true) throw fileFault(`${place}.constraint`, 'must be its name, or false')
  const names = (member: 'by' | 'references') => {
    if (sent[member] === undefined) return undefined
    const read = textsAt(sent[member], `${place}.${member}`)
    if (read.length === 0) throw fileFault(`${place}.${member}`, 'must not be empty')
    return read
  }
  return {
    kind: 'relation',
    to: to.replace(/\?$/, ''),
    isNullable: to.endsWith('?'),
    opposite: optionalText(sent.opposite, `${place}.opposite`) ?? collection,
    isUnique: flagAt(sent.unique, `${place}.unique`, false),
    onDelete: oneOfAt(sent.onDelete, `${place}.onDelete`, actions, 'noAction'),
    onUpdate: oneOfAt(sent.onUpdate, `${place}.onUpdate`, actions, 'noAction'),
    by: names('by'),
    references: names('references'),
    constraint: constraint === false ? false : optionalText(constraint, `${place}.constraint`),
    hasIndex: flagAt(sent.index, `${place}.index`, true),
    renamedFrom: optionalText(sent.renamedFrom, `${place}.renamedFrom`),
  }
}

function readJunction(value: unknown, place: string, [collection, field]: Owner): FileJunction {
  const sent = membersAt(value, place, ['many', 'through', 'opposite', 'over'])
  return {
    kind: 'junction',
    many: textAt(sent.many, `${place}.many`),
    through: optionalText(sent.through, `${place}.through`) ?? junctionName(collection, field),
    opposite: optionalText(sent.opposite, `${place}.opposite`) ?? collection,
  }
}

function readOver(value: unknown, place: string, [collection]: Owner): FileOver {
  const sent = membersAt(value, place, ['many', 'over', 'opposite', 'renamedFrom'])
  const [near = '', far = '', ...more] = textAt(sent.over, `${place}.over`).split('.')
  if (near === '' || far === '' || more.length > 0) {
    throw fileFault(`${place}.over`, 'must be a relation to the junction, a dot, and that of the junction')
  }
  return {
    kind: 'over',
    many: textAt(sent.many, `${place}.many`),
    over: [near, far],
    opposite: optionalText(sent.opposite, `${place}.opposite`) ?? collection,
    renamedFrom: optionalText(sent.renamedFrom, `${place}.renamedFrom`),
  }
}

function readRole(value: unknown, place: string): FileRole {
  if (Array.isArray(value)) return { description: null, policies: textsAt(value, place), renamedFrom: undefined }
  if (!isMembers(value)) throw fileFault(place, 'must be a list of policies, or an object')
  const sent = membersAt(value, place, ['description', 'policies', 'renamedFrom'])
  return {
    description: descriptionAt(sent.description, `${place}.description`),
    policies: textsAt(sent.policies, `${place}.policies`),
    renamedFrom: optionalText(sent.renamedFrom, `${place}.renamedFrom`),
  }
}

function readPolicy(value: unknown, place: string): FilePolicy {
  const sent = membersAt(value, place, ['description', 'entitlements', 'collections', 'renamedFrom'])
  const { entitlements, collections } = sent
  return {
    description: descriptionAt(sent.description, `${place}.description`),
    content: contentAt(
      { ...(entitlements !== undefined && { entitlements }), ...(collections !== undefined && { collections }) },
      place,
    ),
    renamedFrom: optionalText(sent.renamedFrom, `${place}.renamedFrom`),
  }
}

function descriptionAt(value: unknown, place: string): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string') throw fileFault(place, 'must be a string')
  return value
}

/** Policies know numbers as JavaScript reads them, as their own routes do; one that it would round is a fault. */
function contentAt(sent: Members, place: string): unknown {
  return keptNumbers(sent, (path, reason) => fileFault(issuePath(path, place), reason))
}
