/** Operations that make plain collections, as they are sent. */
import { randomUUID } from 'node:crypto'
import type { Workspace } from './client.ts'

/** A collection with a counted key and `count` fields beside it. */
export function plainCollection({ sourceId }: Workspace, name: string, count = 3) {
  const key = field('id', { name: 'int64' }, { source: 'connectorManaged', isAutoincrement: true })
  const others = Array.from({ length: count }, (_, index) => field(`field${index}`, types[index % types.length], null))
  const primary = {
    kind: 'createIndex',
    data: { id: randomUUID(), dbName: `${name}_pkey`, kind: 'primary', fieldIds: [key.data.id] },
  }
  return {
    kind: 'createCollection',
    data: {
      id: randomUUID(),
      sourceId,
      namespaceId: null,
      dbName: name,
      apiName: name,
      operations: [key, ...others, primary],
    },
  }
}

const types = [
  { name: 'string', params: { length: 'unlimited' } },
  { name: 'int32' },
  { name: 'boolean' },
  { name: 'dateTimeWithTimezone' },
  { name: 'uuid' },
]

function field(name: string, type: object | undefined, defaultValue: object | null) {
  const isNullable = defaultValue === null
  return {
    kind: 'createPrimitiveField',
    data: { id: randomUUID(), dbName: name, apiName: name, type, isNullable, isList: false, defaultValue },
  }
}
