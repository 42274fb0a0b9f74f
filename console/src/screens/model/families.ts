/** What databases of a family lack: one table, held to the service by test/core/console-model.test.ts. */
import { type Action, type Collection, type FieldType, type Model, referentialActions } from './records.ts'

export type Family = {
  /** Types that it has no column for. */
  readonly lacks: readonly string[]
  readonly hasLists: boolean
  /** Whether it stores decimals, and has keys that are texts, within bounds alone. */
  readonly needsBounds: boolean
  /** What it does where what a row refers to goes. */
  readonly actions: readonly Action[]
}

const postgres: Family = {
  lacks: ['int8', 'uint8', 'uint16', 'uint32', 'uint64', 'geometry'],
  hasLists: true,
  needsBounds: false,
  actions: referentialActions,
}
const mysql: Family = {
  lacks: [],
  hasLists: false,
  needsBounds: true,
  actions: referentialActions.filter((action) => action !== 'setDefault'),
}
const families: Readonly<Record<string, Family>> = {
  postgres,
  neon: postgres,
  mysql,
  mariadb: mysql,
  planetscale: mysql,
}

const providerOf = ({ sources }: Sources, sourceId: string) => sources.find(({ id }) => id === sourceId)?.provider ?? ''

/** Of the database that has the tables of a source; what is no database makes none. */
export function familyOf(model: Sources, sourceId: string): Family {
  return families[providerOf(model, sourceId)] ?? postgres
}

type Sources = Pick<Model, 'sources'>
type Place = Pick<Collection, 'sourceId' | 'isView'>

/** Whether a database enforces a relation between the two: only then something is done where what they refer to goes. */
export function isHeld(model: Sources, one: Place, other: Place): boolean {
  const isOfDatabase = Object.hasOwn(families, providerOf(model, one.sourceId))
  return isOfDatabase && one.sourceId === other.sourceId && !one.isView && !other.isView
}

/** Of whole numbers the next larger one where there is no column for it, which holds the keys of another source. */
export function storedAs({ lacks }: Family, type: FieldType): FieldType {
  const name = lacks.includes(type.name) ? larger[type.name] : undefined
  return name === undefined ? type : { name }
}

const larger: Readonly<Record<string, string>> = {
  int8: 'int16',
  uint8: 'int16',
  uint16: 'int32',
  uint32: 'int64',
  uint64: 'int64',
}

/** Whether a field of a type can refer to a key of another: within a database only of its own type. */
export function mayRefer(one: FieldType, key: FieldType, isAcross: boolean): boolean {
  const isInteger = ({ name }: FieldType) => /^u?int/.test(name)
  return one.name === key.name || (isAcross && isInteger(one) && isInteger(key))
}
