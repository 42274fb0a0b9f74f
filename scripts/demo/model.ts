/** The demo's data model as migration operations: airports and flights between them, films and their directors. */
import { randomUUID } from 'node:crypto'

const string = { name: 'string', params: { length: 'unlimited' } }
const required = { isNullable: false, isList: false, defaultValue: null }
const optional = { isNullable: true, isList: false, defaultValue: null }
const counted = { ...required, defaultValue: { source: 'connectorManaged', isAutoincrement: true } }

/** `sourceId` is the id of the workspace's source `_system`. */
export function demoOperations(sourceId: string): readonly unknown[] {
  const airports = collection(sourceId, 'airports', {
    code: { type: string, ...required },
    name: { type: string, ...required },
    city: { type: string, ...optional },
    state: { type: string, ...optional },
    country: { type: string, ...required },
    latitude: { type: { name: 'float64' }, ...required },
    longitude: { type: { name: 'float64' }, ...required },
  })
  const flights = collection(sourceId, 'flights', {
    id: { type: { name: 'int64' }, ...counted },
    departedAt: { type: { name: 'dateTime' }, ...required },
    delayMinutes: { type: { name: 'int32' }, ...required },
    distanceMiles: { type: { name: 'int32' }, ...required },
    originCode: { type: string, ...required },
    destinationCode: { type: string, ...required },
  })
  const directors = collection(sourceId, 'directors', {
    id: { type: { name: 'int32' }, ...required },
    name: { type: string, ...required },
  })
  const films = collection(sourceId, 'films', {
    id: { type: { name: 'int32' }, ...required },
    title: { type: string, ...optional },
    releasedOn: { type: { name: 'date' }, ...optional },
    genre: { type: string, ...optional },
    distributor: { type: string, ...optional },
    rating: { type: string, ...optional },
    runningMinutes: { type: { name: 'int32' }, ...optional },
    productionBudget: { type: { name: 'int64' }, ...optional },
    worldwideGross: { type: { name: 'int64' }, ...optional },
    imdbRating: { type: { name: 'decimal', params: { kind: 'constrained', precision: 3, scale: 1 } }, ...optional },
    imdbVotes: { type: { name: 'int32' }, ...optional },
    directorId: { type: { name: 'int32' }, ...optional },
  })
  return [
    ...[airports, flights, directors, films].map(({ operation }) => operation),
    relation('flight_origin', [flights, 'origin', 'originCode'], [airports, 'departures', 'code']),
    relation('flight_destination', [flights, 'destination', 'destinationCode'], [airports, 'arrivals', 'code']),
    relation('film_director', [films, 'director', 'directorId'], [directors, 'films', 'id']),
  ]
}

type Made = { readonly id: string; readonly fieldIds: Readonly<Record<string, string>>; readonly operation: unknown }

/** The first field is the primary key; a foreign key gets an index. */
function collection(sourceId: string, apiName: string, fields: Readonly<Record<string, object>>): Made {
  const id = randomUUID()
  const fieldIds = Object.fromEntries(Object.keys(fields).map((name) => [name, randomUUID()]))
  const [key = ''] = Object.keys(fields)
  const foreignKeys = Object.keys(fields).filter((name) => name !== key && /(Code|Id)$/.test(name))
  const createFields = Object.entries(fields).map(([name, definition]) => ({
    kind: 'createPrimitiveField',
    data: { id: fieldIds[name], dbName: snakeCase(name), apiName: name, ...definition },
  }))
  const createIndexes = [
    { kind: 'primary', dbName: `${apiName}_pkey`, fieldIds: [fieldIds[key]] },
    ...foreignKeys.map((name) => ({
      kind: 'normal',
      dbName: `${apiName}_${snakeCase(name)}`,
      fieldIds: [fieldIds[name]],
    })),
  ].map((index) => ({ kind: 'createIndex', data: { id: randomUUID(), ...index } }))
  const data = {
    id,
    sourceId,
    namespaceId: null,
    dbName: apiName,
    apiName,
    operations: [...createFields, ...createIndexes],
  }
  return { id, fieldIds, operation: { kind: 'createCollection', data } }
}

type Side = readonly [collection: Made, apiName: string, field: string]

function relation(relationName: string, [owner, name, column]: Side, [target, back, key]: Side): unknown {
  const side = (made: Made, apiName: string, field: string) => ({
    id: randomUUID(),
    apiName,
    collectionId: made.id,
    fieldIds: [made.fieldIds[field]],
  })
  return {
    kind: 'createRelationFieldPair',
    data: {
      kind: 'single',
      data: {
        relationName,
        onDelete: 'restrict',
        onUpdate: 'cascade',
        firstField: { ...side(owner, name, column), isList: false, isConstrained: true },
        secondField: { ...side(target, back, key), isList: true, isConstrained: false },
      },
    },
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
